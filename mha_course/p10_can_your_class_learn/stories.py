"""Stories of two children and their things: what is asked at the end must be found by name."""

import random

import torch

NAMES = ["mia", "leo", "ann", "tom", "eva", "sam", "zoe", "max"]
COLOURS = ["red", "blue", "green", "white", "black", "pink", "grey", "gold"]
THINGS = ["balls", "kites", "books", "cups", "hats", "drums", "boats", "shoes"]
OWNERS = [f"{name}'s" for name in NAMES]
WORDS = ["see", "gives", "everything", "now", "and", ".", *NAMES, *OWNERS, *COLOURS, *THINGS]
LENGTH, ASKED = 24, 18  # words of a story; the first that is asked: what follows “now see mia's”
FACTS = (18, 19, 21, 22)  # own colour and thing, those given: what no grammar tells
KEPT_BACK = 10**6  # the seed of the stories that no training sees


def new_story(draw):
    """Return a story of 24 words; ``draw`` is a ``random.Random``. Used in notebook 10.

    >>> new_story(random.Random(2)).split(" . ")[2:]
    ['mia gives max everything', "now see max's green drums and blue books ."]
    """
    giver, taker = draw.sample(NAMES, 2)
    gift, own = (" ".join(pair) for pair in zip(draw.sample(COLOURS, 2), draw.sample(THINGS, 2), strict=True))
    had = [f"see {giver}'s {gift} .", f"see {taker}'s {own} ."]
    draw.shuffle(had)  # so that no place tells who has what
    return f"{had[0]} {had[1]} {giver} gives {taker} everything . now see {taker}'s {own} and {gift} ."


def new_stories(count, seed):
    """Return stories as numbers of words; ``seed`` is a number, or a ``random.Random`` that goes on.

    Shape: -> ``(count, 24)``. Used in notebook 10.

    >>> as_words(new_stories(1, seed=2)[0])[:3]
    ['see', "mia's", 'blue']
    """
    draw = seed if isinstance(seed, random.Random) else random.Random(seed)
    stories = [new_story(draw).split() for _ in range(count)]
    return torch.tensor([[WORDS.index(word) for word in story] for story in stories])


def as_words(ids):
    """Return the words of a text of numbers ``(n)``.

    >>> as_words(torch.tensor([3, 0]))
    ['now', 'see']
    """
    return [WORDS[number] for number in ids.tolist()]
