"""The one exercise of notebook 00: how an exercise works."""

from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.values import ValueExercise

count_the_cells = ValueExercise(
    "0.1",
    "Count the cells",
    stars=1,
    minutes=1,
    variable="number_of_weights",
    answer=81,
    mistakes=[
        Mistake("one row", 9, "That is one row. Each of the 9 words asks, so how many rows are there?"),
        Mistake(
            "rows and columns added",
            18,
            "That adds rows and columns. How many cells does a grid of 9 rows have?",
        ),
        Mistake(
            "each pair once",
            45,
            "That counts each pair once. The weight of a on b and the weight of b on a are two cells.",
        ),
        Mistake(
            "each pair of different words once",
            36,
            "That counts each pair once and leaves out the diagonal. How many cells has a grid of 9 rows and"
            " 9 columns?",
        ),
        Mistake(
            "a word without itself",
            72,
            "That leaves out the diagonal. A word may look at itself, too.",
        ),
    ],
    praise="Every word looks at every word, so the number of weights grows with the square of the length.",
    hints=[
        "A row belongs to a word that asks, a column to a word that may answer.",
        "There are 9 rows. How many cells does each row have?",
    ],
    solution="""
number_of_weights = 9 * 9  # 9 queries, and for each of them 9 keys
""",
)
