"""What TEACHING.md says of page 11: the answers to **Try this**, what learners say, where they are stuck."""

import pytest
from try_this import Answers, notes, two

from mha_helpers.exercises import e11_a_real_model as exercises
from mha_helpers.real_model import _wait


def test_every_number_of_an_answer_is_what_the_explorer_shows():
    page = Answers("11")
    page.do(1, "Layer 1, head 3. Shuffle the words", shuffle=True)
    on_cls = page.do(2, "where do dark first columns begin?")["tendencies"]["[CLS]"].mean(dim=-1)
    assert on_cls[0] < 0.5 < on_cls[1]
    page.say("in layer 2.", f"{two(on_cls[0])} in layer 1, and {two(on_cls[1])} in layer 2")
    page.do(3, "Untick *shuffle the words*", shuffle=False)
    last = page.do(3, "Layer 6, head 12: switch it off", layer=6, head=12, off=True)["similarity"]
    before = page.do(3, "Then layer 5, head 12, the same", layer=5)
    page.say(f"{two(last)}, then {two(before['similarity'])}, though head 12 of layer 5")
    page.say(f"{two(before['tendencies']['[CLS]'][4, 11])} on `[CLS]`")
    state = page.do(4, "Layer 1, head 9, with a sentence that has a word twice", layer=1, head=9)
    assert [token for token in state["tokens"] if state["tokens"].count(token) > 1] == ["the", "the"]
    page.say(f"is {two(state['tendencies']['same word'][0, 8])} with our sentence")
    state = page.do(4, "with one that has none", sentence="one dog saw a cat")
    assert state["tendencies"]["same word"][0, 8].isnan()
    state = page.now(sentence="a dog saw a cat")
    same, even = state["tendencies"]["same word"][0, 8], state["even"]["same word"]
    page.say(f"“a dog saw a cat”: {two(same)}, and even weights give {two(even)}")
    page.nothing_left()


def test_learners_could_tell_other_stories_of_the_same_head():
    state = Answers("11").panel.state()
    weights, tokens = state["weights"][0, 2], state["tokens"]
    for word, looks_at in (("fish", "the"), ("hungry", "is")):
        row = weights[tokens.index(word)]
        assert tokens[int(row.argmax())] == looks_at
        assert f"“{word}” gives “{looks_at}” {two(row.max())}" in notes("11")["They say"]


def test_the_line_that_a_waiting_cell_prints_is_the_one_of_the_notes():
    line = "This cell waits for the model"
    assert f"“{line}”" in notes("11")["Stuck"] and line in _wait(["model.config\n"])[0]


@pytest.mark.parametrize(
    ("exercise", "name", "said"),
    [
        (exercises.padding, "no axes added", "a mask of shape (b, n)"),
        (exercises.padding, "turned round", "True and False turned round"),
        (exercises.padding, "queries masked", "queries masked"),
        (exercises.fused, "not transposed", "`.T` is forgotten"),
    ],
)
def test_a_check_knows_the_mistakes_of_the_notes(exercise, name, said):
    assert said in notes("11")["Stuck"].split(f"{exercise.number}: ")[1].split(" 11.")[0]
    assert name in [mistake.name for mistake in exercise.mistakes]
