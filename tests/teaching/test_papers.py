"""The papers before and after: two parallel forms, a key that names misconceptions, and the picture."""

import re
from collections import Counter

import make_papers
import misconceptions
import pytest
import torch

ROOT = misconceptions.ROOT
KEY = misconceptions.read_key()
NAMES = misconceptions.read_misconceptions()
HEADER = "learner,form,when," + ",".join(f"q{i}" for i in range(1, 11))


def paper(form):
    """Question -> the letters and texts of its answers, as printed."""
    text = (ROOT / "teaching" / f"paper_{form}.md").read_text(encoding="utf-8")
    pieces = re.split(r"^\*\*(\d+)\.\*\* ", text, flags=re.MULTILINE)[1:]
    return {
        int(number): dict(re.findall(r"^- \*\*([a-e])\*\* (.+)$", body, re.MULTILINE))
        for number, body in zip(pieces[::2], pieces[1::2], strict=True)
    }


def right_letter(form, question):
    return next(
        letter for (f, q, letter), meaning in KEY.items() if (f, q, meaning) == (form, question, "right")
    )


@pytest.mark.parametrize("form", "AB")
def test_the_key_fits_the_paper(form):
    printed = {(form, question, letter) for question, answers in paper(form).items() for letter in answers}
    assert printed == {place for place in KEY if place[0] == form}
    assert sorted(paper(form)) == list(range(1, 11))


@pytest.mark.parametrize("form", "AB")
def test_every_question_has_one_right_answer_and_names_what_the_others_reveal(form):
    for question in range(1, 11):
        meanings = [meaning for (f, q, _), meaning in KEY.items() if (f, q) == (form, question)]
        assert meanings.count("right") == 1 and len(meanings) >= 4
        assert set(meanings) - {"right"} <= set(NAMES)


def test_both_forms_ask_the_same_and_meet_every_misconception():
    def asked(form):
        return [Counter(m for (f, q, _), m in KEY.items() if (f, q) == (form, n)) for n in range(1, 11)]

    assert asked("A") == asked("B")
    assert {meaning for meaning in KEY.values()} - {"right"} == set(NAMES) == set(range(1, 25))


@pytest.mark.parametrize("form", "AB")
def test_the_right_answer_is_not_always_the_same_letter(form):
    letters = Counter(right_letter(form, question) for question in range(1, 11))
    assert max(letters.values()) <= 4 and len(letters) >= 4


@pytest.mark.parametrize(
    ("form", "score", "d_model", "heads", "d_k"), [("A", 16, 512, 8, 64), ("B", 12, 64, 4, 16)]
)
def test_the_answers_on_scaling_are_what_the_mistakes_compute(form, score, d_model, heads, d_k):
    assert heads * d_k == d_model
    printed = {float(answer.removeprefix("about ")) for answer in paper(form)[4].values()}
    computed = {score / d_k**0.5, score / d_k, score * d_k**0.5, round(score / d_model**0.5, 2)}
    assert printed == computed
    assert float(paper(form)[4][right_letter(form, 4)]) == score / d_k**0.5


@pytest.mark.parametrize(("form", "n", "heads", "d_k"), [("A", 4, 3, 2), ("B", 5, 2, 4)])
def test_the_answers_on_splitting_do_what_the_key_says(form, n, heads, d_k):
    q = torch.arange(float(n * heads * d_k)).view(n, heads * d_k)
    by_meaning = {KEY[form, 9, letter]: line.strip("`") for letter, line in paper(form)[9].items()}
    right = torch.stack([q[:, h * d_k : (h + 1) * d_k] for h in range(heads)])
    scope = {"q": q}
    assert torch.equal(eval(by_meaning["right"], scope), right)
    scrambled = eval(by_meaning[1], scope)
    assert scrambled.shape == right.shape and not torch.equal(scrambled, right)
    with pytest.raises(RuntimeError, match="view"):
        eval(by_meaning[2], scope)
    assert eval(by_meaning[16], scope).shape != right.shape


def test_the_answers_on_masks_are_what_the_key_says():
    rows = {letter: answer.strip("`").split(" / ") for letter, answer in paper("A")[5].items()}
    masks = {
        letter: torch.tensor([[int(c) for c in row.split()] for row in its]) for letter, its in rows.items()
    }
    ones = torch.ones(3, 3, dtype=torch.int64)
    assert torch.equal(masks[right_letter("A", 5)], ones.tril())
    assert {KEY["A", 5, letter] for letter, mask in masks.items() if torch.equal(mask, 1 - ones.tril())} == {
        7
    }
    second = [int(c) for c in paper("B")[5][right_letter("B", 5)].strip("`").split()]
    assert second == torch.ones(4, 4).tril()[1].int().tolist()


def test_the_sentences_on_large_scores_are_true():
    row = torch.tensor([200.0, 3.0, 1.0])
    assert torch.softmax(row, dim=-1).isfinite().all()
    assert torch.allclose(torch.softmax(row - row.max(), dim=-1), torch.softmax(row, dim=-1))
    assert torch.softmax(torch.full((3,), -torch.inf), dim=-1).isnan().all()
    with pytest.raises(RuntimeError):
        torch.zeros(2, dtype=torch.float16).masked_fill(torch.tensor([True, False]), -1e9)


# --- the pages to print ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", "AB")
def test_a_page_to_print_holds_the_whole_paper(form, tmp_path):
    assert make_papers.main(["--to", str(tmp_path)]) == 0
    page = (tmp_path / f"paper_{form}.html").read_text(encoding="utf-8")
    questions = re.findall(r"<section>.*?</section>", page, re.DOTALL)
    assert [len(re.findall("<li>", question)) for question in questions] == list(
        map(len, paper(form).values())
    )
    assert "Your code name" in page and "http" not in page  # it needs no network


# --- the tool -------------------------------------------------------------------------------------------


def line(form, when, **wrong):
    answers = [wrong.get(f"q{i}", right_letter(form, i)) for i in range(1, 11)]
    return ",".join(["someone", form, when, *answers])


def result_of(*lines):
    return misconceptions.shares(misconceptions.read_answers([HEADER, *lines], KEY), KEY)


def test_shares_count_each_paper_once():
    # In form A, a and c of question 1 are both misconception 20; b and c of question 6 are 6 and 8.
    result = result_of(line("A", "before", q1="a"), line("A", "before", q6="b"), line("A", "after"))
    assert result["before"][20] == 0.5 and result["before"][6] == 0.5 and result["before"][8] == 0
    assert set(result["after"].values()) == {0}


def test_a_table_with_semicolons_is_read_as_well():
    lines = [HEADER, line("A", "before", q1="a"), line("B", "after", q4="")]
    with_semicolons = [text.replace(",", ";") for text in lines]
    assert misconceptions.read_answers(with_semicolons, KEY) == misconceptions.read_answers(lines, KEY)


def test_what_is_left_most_comes_first():
    result = result_of(
        line("A", "before", q1="a"), line("B", "after", q4="a"), line("B", "after", q4="b", q1="b")
    )
    assert misconceptions.ordered(result)[0] == 10
    assert set(misconceptions.ordered(result)) == {10, 20}


def test_a_blank_answer_reveals_nothing():
    result = result_of(line("B", "after", **{f"q{i}": "" for i in range(1, 11)}))
    assert set(result["after"].values()) == {0} and misconceptions.ordered(result) == []


def test_blank_answers_are_counted_aloud():
    rows = misconceptions.read_answers([HEADER, line("A", "before", q1="a", q10=""), line("B", "after")], KEY)
    words = misconceptions.in_words(rows, misconceptions.shares(rows, KEY), NAMES)
    assert words.startswith("Not answered: 1 of 20. Papers before: 1, after: 1. Share of papers")


def test_empty_rows_of_a_spreadsheet_are_passed_over():
    lines = [HEADER, line("A", "before", q1="a"), "," * 12, line("B", "after")]
    assert len(misconceptions.read_answers(lines, KEY)) == 2


@pytest.mark.filterwarnings("error")
def test_a_class_without_a_wrong_answer_gets_a_picture_that_says_so():
    rows = misconceptions.read_answers([HEADER, line("A", "before"), line("B", "after")], KEY)
    result = misconceptions.shares(rows, KEY)
    assert "none: every answer that was given is right" in misconceptions.in_words(rows, result, NAMES)
    axes = misconceptions.draw(result, NAMES).axes[0]
    assert [text.get_text() for text in axes.texts] == ["none: every answer that was given is right"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["learner,form,when,q1", "x,A,before,a"], "no column q2"),
        ([HEADER, line("A", "before").replace(",A,", ",C,")], "line 2"),
        ([HEADER, line("A", "during")], "before or after"),
        ([HEADER, line("A", "before", q4="e")], "question 4 of form A has no answer 'e'"),
        ([HEADER], "no line"),
        ([HEADER, "fox"], "line 2: form must be A or B"),
        ([HEADER, line("A", "before") + ",a,b"], "line 2: more answers than columns"),
    ],
)
def test_a_bad_table_is_explained(lines, words):
    with pytest.raises(ValueError, match=words):
        misconceptions.read_answers(lines, KEY)


def test_the_example_class_makes_a_picture_whose_labels_are_whole(tmp_path, capsys):
    picture = tmp_path / "class.png"
    assert misconceptions.main([str(ROOT / "teaching" / "example_answers.csv"), "--to", str(picture)]) == 0
    assert "Papers before: 8, after: 8." in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    with (ROOT / "teaching" / "example_answers.csv").open() as file:
        result = misconceptions.shares(misconceptions.read_answers(file, KEY), KEY)
    figure = misconceptions.draw(result, NAMES)
    figure.canvas.draw()
    whole = figure.bbox
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert "10. the scale misread → 04" in labels
    assert "2. view after transpose → 08" in labels
    for label in figure.axes[0].get_yticklabels():
        box = label.get_window_extent()
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1


def test_a_table_as_a_western_spreadsheet_saves_it_is_read(tmp_path, capsys):
    lines = (ROOT / "teaching" / "example_answers.csv").read_text(encoding="utf-8").replace(",", ";")
    first = lines.splitlines()[1].split(";")[0]
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        (tmp_path / "class.csv").write_bytes(lines.replace(first, "Müller").encode(encoding))
        assert misconceptions.main([str(tmp_path / "class.csv")]) == 0
        assert "Papers before: 8, after: 8." in capsys.readouterr().out


@pytest.mark.parametrize("name", ["no/such/folder.png", "picture.docx"])
def test_a_picture_that_cannot_be_written_is_told(name, tmp_path, capsys):
    answers = str(ROOT / "teaching" / "example_answers.csv")
    assert misconceptions.main([answers, "--to", str(tmp_path / name)]) == 1
    assert name in capsys.readouterr().err
