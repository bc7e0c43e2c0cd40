// Sets the formulas, makes every slide fit 1280 × 720, and starts reveal.js.
const WIDTH = 1280, HEIGHT = 720, SMALLEST = 0.5;

function height(box, scale) {
  box.style.width = WIDTH / scale + "px";
  return Math.max(box.scrollHeight, box.offsetHeight) * scale;
}

function wide(box) {
  const cut = (one) => one.scrollWidth > one.clientWidth + 1;
  return cut(box) || [...box.querySelectorAll("pre")].some(cut);
}

function fit(section) {
  const box = section.querySelector(".fit");
  const pictures = [...box.querySelectorAll("img")];
  const natural = pictures.map((picture) => picture.naturalWidth / 1.5); // they are stored at 144 dots an inch
  let scale = 1, picture = 1.9;
  section.style.setProperty("display", "block", "important"); // reveal.js shows one slide; hidden, all are 0 high
  const fits = () => {
    pictures.forEach((image, i) => { image.style.width = natural[i] * picture + "px"; });
    return height(box, scale) <= HEIGHT && !wide(box);
  };
  // Pictures give way first, down to their size in the notebook; then letters and pictures together.
  while (!fits() && picture > 1) picture -= 0.05;
  while (!fits() && scale > SMALLEST) scale -= 0.02;
  box.style.transform = `scale(${scale})`;
  section.style.removeProperty("display");
  section.dataset.scale = scale.toFixed(2);
}

async function start() {
  renderMathInElement(document.body, {
    delimiters: [{ left: "$$", right: "$$", display: true }, { left: "$", right: "$", display: false }],
  });
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  await Reveal.initialize({
    width: WIDTH, height: HEIGHT, margin: 0, center: false, hash: true, transition: "none",
    slideNumber: "c/t", controlsTutorial: false, pdfSeparateFragments: false,
  });
  document.querySelectorAll(".slides > section").forEach(fit);
  document.body.dataset.ready = "yes";
}

start();
