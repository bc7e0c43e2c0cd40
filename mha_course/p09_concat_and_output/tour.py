"""The tour of the machine: twelve numbers on the way from a word to the output, with words for each."""

from mha_course.p09_concat_and_output.machine import D_K, EXAMPLE, Cell
from mha_helpers.style import number

WORD = 1  # “eats”, whose way it is in both sentences
SENTENCES_OF = {  # each is true in every head, under every mask, and of numbers that were changed
    "x": "“{word}” comes in as six numbers, for what it is and where it stands; this one is for “{feature}”.",
    "Q": "W_Q turns them into a query: what “{word}” asks for in {head}. This number is for “{asked}”.",
    "K": "W_K gives each word a key to be found by. Take the key of “{found}”: “{word}” gives no word more.",
    "scores": "Query times key, added up over the columns, is the score: how well “{found}” fits the query.",
    "scaled": "More columns make scores spread wider, so every score is divided by √d_k; here d_k is {d_k}.",
    "masked": "“{word}” may look at “{found}”, so the mask keeps this score. A hidden word gets −∞.",
    "weights": "Softmax turns the row into shares that add up to 1. This is the share of “{found}”.",
    "V": "W_V gives each word a value, what it hands over. This is the “{handed}” of “{found}”.",
    "head": "Weight times value, added up over the words, is what “{word}” collects in {head}.",
    "concat": "The outputs of all heads are put side by side, and no number changes.",
    "W_O": "W_O mixes the heads. This is how much of concat's number goes into “{result}” of the output.",
    "output": "This is what has become of “{word}”: {parts}.",
}
STEPS = len(SENTENCES_OF)


def tour_of(machine):
    """Return the cells of the tour through a machine, in the order in which they are visited.

    The word found is the one that gets most weight; of several columns it takes the one that adds most.
    """
    values, features = machine.values, range(len(EXAMPLE.features))

    def most(cells):
        return max(cells, key=lambda cell: (abs(values[cell]), values[cell]))

    found = most(Cell("weights", WORD, key) for key in range(len(machine.tokens))).column
    asked = max(range(D_K), key=lambda k: abs(values[Cell("Q", WORD, k)] * values[Cell("K", found, k)]))
    x = max(features, key=lambda f: abs(values[Cell("x", WORD, f)] * values[Cell("W_Q", f, asked)]))
    w_o = most(Cell("W_O", D_K * machine.head, feature) for feature in features)
    return [
        Cell("x", WORD, x), Cell("Q", WORD, asked), Cell("K", found, asked),
        *(Cell(name, WORD, found) for name in ("scores", "scaled", "masked", "weights")),
        Cell("V", found, 0), Cell("head", WORD, 0), Cell("concat", WORD, w_o.row), w_o,
        Cell("output", WORD, w_o.column),
    ]  # fmt: skip


def told(machine, cell):
    """Say what happens at a cell of the tour."""
    cells = {step.matrix: step for step in tour_of(machine)}
    return SENTENCES_OF[cell.matrix].format(
        word=machine.tokens[WORD], found=machine.tokens[cells["V"].row],
        head=f"head {machine.head + 1}", d_k=D_K,
        feature=EXAMPLE.features[cells["x"].column], asked=machine.axes["Q"][1][cells["Q"].column],
        handed=machine.axes["V"][1][0], result=EXAMPLE.features[cells["W_O"].column],
        parts=_parts(machine, cells["output"]),
    )  # fmt: skip


def _parts(machine, output):
    """Say what each head has added to an output."""
    factors = [machine.values[source] for source in machine.sources(output)]
    half = len(factors) // 2
    products = [a * b for a, b in zip(factors[:half], factors[half:], strict=True)]
    sums = [sum(products[D_K * head :][:D_K]) for head in range(EXAMPLE.num_heads)]
    parts = [f"{number(part, 3)} from head {head + 1}" for head, part in enumerate(sums)]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
