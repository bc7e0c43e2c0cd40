// Exercise 0.1 without a kernel: what the check says of an answer was asked beforehand, and stands in the page.
const NEAR = 0.0053; // the check's own: two decimals are asked for

const read = text => /^\s*[+−-]?(\d+([.,]\d*)?|[.,]\d+)\s*$/.test(text) ? Number(text.replace("−", "-").replace(",", ".")) : NaN;
// A number as a sentence writes it.
const written = value => String(Number(value.toFixed(3))).replace("-", "−");

function judge({ right, said, others, times }, answer) {
  if (answer.some(Number.isNaN)) return "Write one number into each field, for example 1.23.";
  const far = pair => Math.max(...answer.map((value, i) => Math.abs(value - pair[i])));
  const nearest = least(said, far);
  if (far(nearest) <= NEAR) return nearest[2];
  const factors = answer.map((value, i) => value / right[i]), factor = (factors[0] + factors[1]) / 2;
  if (factors.every(each => Math.abs(each - factor) <= 1e-8 + 5e-3 * Math.abs(factor))) {
    return times.replace("5", String(Number(factor.toPrecision(3))));
  }
  const places = answer.map((value, i) => Math.abs(value - right[i]) <= NEAR ? "right" : value < right[i] ? "below" : "above");
  const wrong = answer[places[0] === "right" ? 1 : 0];
  return others[places.join(" ")].replace(/−?77/, written(wrong));
}

document.querySelectorAll(".judged").forEach(form => {
  const given = JSON.parse(form.querySelector("script").textContent), fields = [...form.querySelectorAll("input")];
  form.addEventListener("submit", event => {
    event.preventDefault();
    form.querySelector("[role=status]").textContent = judge(given, fields.map(field => read(field.value)));
  });
});
