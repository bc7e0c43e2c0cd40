"""What ``python -m benchmarks.stories`` measured, torch 2.13: too long to be measured on the page."""

FIVE_TRAININGS = {  # mean loss up to steps 50, 100, 200 and 500; facts with the text given; stories
    "A": (2.18, 1.41, 1.40, 1.39, 0.13, 0.00),
    "B": (1.78, 0.02, 0.00, 0.00, 1.00, 0.00),
    "C": (1.97, 0.29, 0.14, 0.00, 1.00, 1.00),
    "D": (0.64, 0.01, 0.00, 0.00, 0.00, 0.00),
    "E": (1.98, 0.36, 0.14, 0.12, 0.87, 0.48),
}
ADAMW_ALONE = (0.53, 0.56, 0.41)  # stories of the unbroken class
# The loss at the end, facts and stories of seeds 1, 2 and 3.
BROKEN_LINES = {
    "nothing": ((0.00, 0.00, 0.00), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "no attention: output = values": ((1.39, 1.39, 1.39), (0.13, 0.13, 0.13), (0.00, 0.00, 0.00)),
    "no mask": ((0.00, 0.00, 0.00), (1.00, 1.00, 1.00), (0.00, 0.00, 0.00)),
    "softmax over the queries": ((0.00, 0.00, 0.00), (1.00, 1.00, 1.00), (0.00, 0.00, 0.00)),
    "heads cut without transpose": ((0.00, 0.00, 0.00), (1.00, 1.00, 1.00), (0.00, 0.00, 0.00)),
    "no √d_k": ((0.10, 0.03, 0.12), (0.92, 0.97, 0.88), (0.68, 0.89, 0.52)),
    "no positions": ((0.15, 0.12, 0.12), (0.87, 0.88, 0.87), (0.48, 0.54, 0.47)),
    "no W_O": ((0.00, 0.00, 0.00), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
}
