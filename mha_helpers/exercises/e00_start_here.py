"""The one exercise of page 00: how an exercise works."""

from mha_helpers.exercises import ValueExercise

count_the_weights = ValueExercise(
    "0.1",
    "Count the weights",
    stars=1,
    minutes=1,
    right=81,
    task="""
    Three words made three rows of three weights. Somebody gives the same head a sentence of nine words.
    How many weights does it compute? Put your number in place of the three dots and run the cell. If
    you are stuck, remove a `#` in the cell below.
    """,
    stub="number_of_weights = ...",
    mistakes=[
        (9, "That is one row. Each of the nine words asks, so how many rows are there?"),
        (18, "That adds rows and columns. How many cells does a grid of nine rows and nine columns have?"),
        (27, "That keeps three from the first sentence: how many words can each word look at now?"),
        (45, "That counts each pair once: the weight of a on b and the weight of b on a are two cells."),
        (
            36,
            "That counts each pair of different words once. Does the order count, or a word with itself?",
        ),
        (72, "That leaves out the diagonal. May a word look at itself, too?"),
        (243, "That counts three heads. How many weights does one head compute?"),
    ],
    praise="Every word looks at every word, so three times as many words need nine times as many weights.",
    hints=[
        "A row belongs to a word that asks, a column to a word that may answer.",
        "There are nine rows. How many cells does each row have?",
    ],
    solution="number_of_weights = 9 * 9  # nine rows, and in each of them nine columns",
)
