"""The exercise of the deeper page on block and cost: the whole block counted."""

from mha_course.exercises import ValueExercise

FFN = 2 * 100 * 512 * 2048


def _counted(number, right):
    """Say what a wrong number would count."""
    if right != FFN:
        return f"makes scores and values cost {1024 * number**2:,.0f}: what does the rest cost for so many?"
    if abs(number / FFN - 1) < 0.01:
        near = "is near the right count: is something rounded"
        return f"{near}, or did you count biases, which multiply nothing?"
    matrices = 2 * float(number) / FFN
    if not matrices.is_integer():
        return f"is {number / 100:,.10g} for each word: how many numbers does one matrix of 512 by 2048 hold?"
    one = "one matrix of 512 by 2048 for each of 100 words"
    return f"is {matrices:g} · {one}: how many are there, how large, and is a multiply-add one?"


whole_block = ValueExercise(
    "D9.1 ★★ · 8 min · What a whole block costs",
    task="""
    The page covers attention. A block also has an FFN: two matrices, d_model → d_ff and back. Take
    d_model = 512 and d_ff = 2048. How many multiply-adds does the FFN need for 100 words? And at how many
    words do scores and values cost as much as all four projections and the FFN together?
    """,
    describe=_counted,
    mistakes=[
        ({"FFN": FFN // 100}, "“FFN” counts one word: how many go through it?"),
        ({"equal at n": 307200}, "“equal at n” has the 100 words in it: is n given there, or asked for?"),
        ({"FFN": 209.7152}, "“FFN” is in millions: write the whole number."),
        ({"equal at n": 1024}, "“equal at n”: the FFN is missing or counted for one word: how many need it?"),
        ({"equal at n": 2048}, "“equal at n” leaves something out: the projections, or a matrix of the FFN?"),
        ({"equal at n": 2816}, "“equal at n” counts three projections: which one comes after the heads?"),
        ({"equal at n": 6144}, "“equal at n” gives scores and values n² · d_model together: is that enough?"),
    ],
    praise="In a whole block the table catches up at 6 · d_model: 3,072 words, not 1,024.",
    hints=[
        "(n, d_model) @ (d_model, d_ff) needs n · d_model · d_ff multiply-adds, likewise the way back.",
        "Scores and values: 2 · n² · d_model. The rest: n · (4 · d_model² + 2 · d_model · d_ff).",
        "Equate the two and divide by n · d_model.",
    ],
    solution="""
d_model, d_ff = 512, 2048
rest_per_word = 4 * d_model**2 + 2 * d_model * d_ff
block = {
    "FFN": 2 * 100 * d_model * d_ff,
    "equal at n": rest_per_word / (2 * d_model),  # 2 · n² · d_model = n · rest
}
""",
)
