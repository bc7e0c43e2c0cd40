"""What a teacher sees of a class: read from notebooks as a learning platform or a hub gives them."""

import io
import os
import zipfile

import nbformat
import pytest

import course
from mha_course.exercises import ValueExercise
from teaching import collect
from tools.notebook import exercise_cells


def exercise(number, title):
    return ValueExercise(
        f"{number} ★ · 1 min · {title}", right=2, task="Two.", stub="two = ...", praise="Two it is.",
        hints=["Two."], solution="two = 2", mistakes=[(3, "That is <three>: which number is asked for?")],
    )  # fmt: skip


FIRST, SECOND = exercise("3.1", "A first one"), exercise("10.2", "A second one")
LAST, DEEPER = exercise("10.10", "The last one"), exercise("D4.1", "A deeper one")
PARTS = ValueExercise(
    "3.2 ★ · 1 min · <Two> parts", right={"row": 2, "column": 5}, task="Two.", praise="Yes.", stub="both = {...: ...}",
    hints=["Two."], solution="both = {}", mistakes=[({"row": 3}, "“row” is one too many.")],
)  # fmt: skip

EXPECTED = """\
6 learners. Exercises that somebody tried: 4.
<th class="learner">&amp;en</th><th class="learner">anna</th><th class="learner">cem</th><th class="learner">dora</th><th class="learner">eve</th><th class="learner">fay</th>
<tr><th>3.1 A first one</th><td class="not-yet" aria-label="not yet" title="That is &lt;three&gt;: which number is asked for?">✗</td><td class="not-yet" aria-label="not yet" title="That is &lt;three&gt;: which number is asked for?">✗</td><td class="not-yet" aria-label="not yet" title="Your answer, 7, is too large.">✗</td><td class="not-yet" aria-label="not yet" title="Your answer, 8.5, is too large.">✗</td><td class="not-yet" aria-label="not yet" title="Your answer, 8.5, is too large.">✗</td><td class="not-yet" aria-label="not yet" title="The cell stops with a NameError before the check.">✗</td><td>0</td><td>6</td><td>0</td></tr><tr><th>3.2 &lt;Two&gt; parts</th><td class="not-tried" aria-label="not tried">–</td><td class="not-yet" aria-label="not yet" title="“row” is one too many. Not yet right either: “column”.">✗</td><td class="not-yet" aria-label="not yet" title="“column”: right. “row” is one too many.">✗</td><td class="not-tried" aria-label="not tried">–</td><td class="correct" aria-label="correct">✓</td><td class="not-tried" aria-label="not tried">–</td><td>1</td><td>2</td><td>3</td></tr><tr><th>10.2 A second one</th><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td class="correct" aria-label="correct">✓</td><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td>1</td><td>0</td><td>5</td></tr><tr><th>D4.1 A deeper one</th><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td class="not-yet" aria-label="not yet" title="The cell stops with a NameError before the check.">✗</td><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td class="not-tried" aria-label="not tried">–</td><td>0</td><td>1</td><td>5</td></tr>
<p>Nobody tried 10.10.</p>
<h3>3.1 A first one</h3><ul><li><b>3 ×</b>Your answer, 8.5, is too large. <span class="who">(cem, dora, eve)</span></li><li><b>2 ×</b>That is &lt;three&gt;: which number is asked for? <span class="who">(&amp;en, anna)</span></li><li><b>1 ×</b>The cell stops with a NameError before the check. <span class="who">(fay)</span></li></ul><h3>3.2 &lt;Two&gt; parts</h3><ul><li><b>2 ×</b>“row” is one too many. <span class="who">(anna, cem)</span></li></ul><h3>D4.1 A deeper one</h3><ul><li><b>1 ×</b>The cell stops with a NameError before the check. <span class="who">(cem)</span></li></ul>
<h2>Skipped, because they are not notebooks or are too large</h2><ul><li>&amp;i.txt</li></ul>"""


@pytest.fixture
def notebook(capsys):
    """Make a learner's notebook from (exercise, answer): what the page shows and what its check prints."""
    code, output = nbformat.v4.new_code_cell, nbformat.v4.new_output

    def make(*pairs):
        cells = [code("one.check(0)", outputs=[output("error", ename="E", evalue="")])]
        for exercise, answer in pairs:
            raised = outputs = [output("error", ename=getattr(answer, "__name__", "x"), evalue="x")]
            if not isinstance(answer, type):  # else the cell raises
                exercise.check(answer)
                printed = f"mine: 7\n.{capsys.readouterr().out}", "done\n"  # print(".", end="")
                outputs = [output("stream", text=text) for text in printed]
            heading, stub, _ = exercise_cells(exercise, "name")
            cells.append(nbformat.v4.new_markdown_cell(heading))
            cells += [code("1 / 0", outputs=raised), code(stub, outputs=outputs)]
        return nbformat.writes(nbformat.v4.new_notebook(cells=cells))

    return make


def write(folder, files):
    for name, text in files.items():
        course.write(str(folder / name), text)
    return folder


def zipped(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file.getvalue()


@pytest.mark.parametrize(
    ("handed_in", "learners"),
    [
        ({"anna/a.ipynb": 2, "anna/b.ipynb": 3, "ben.zip/a.ipynb": 3, "ben.zip/b.ipynb": 2}, {"anna": True, "ben.zip": True}),
        ({"anna/course/03.ipynb": 3, "anna/course/.ipynb_checkpoints/03.ipynb": 2, "ben/x/y/03.ipynb": 2}, {"anna": False, "ben": True}),
        ({"dora.ipynb": 2, "ben.ipynb": 3, "Cem.ipynb": 2, "Anna.ipynb": 2}, {"Anna": True, "ben": False, "Cem": True, "dora": True}),
        ({"class 3/anna/03.ipynb": 2, "class 3/ben/03.ipynb": 3, "__MACOSX/03.ipynb": 2}, {"anna": True, "ben": False}),
        ({"doejane_7_81_03.ipynb": 3, "doejane_LATE_7_90_03-1.IPYNB": 2, "doejane_8_82_a_1_2_b.ipynb": 3}, {"doejane_7": True, "doejane_8": False}),
        ({"anon_x9_81_03_qk.ipynb": 3, "LATE_anon_x9_82_04_a.ipynb": 2, "anon_y_83_1_2.ipynb": 3}, {"anon_x9": True, "anon_y": False}),
        ({"Jo Ü_5_assignsubmission_file_/03.ipynb": 2, "Al_6_assignsubmission_file_a.ipynb": 3, "Al_6_assignsubmission_file_b.ipynb": 2}, {"Al_6": True, "Jo Ü_5": True}),
    ],
    ids=["solved on one of two pages", "homes of a hub", "files", "a folder round it", "Canvas", "anonymous", "Moodle"],
)  # fmt: skip
def test_folders_and_files_are_learners_in_the_order_of_names(tmp_path, notebook, handed_in, learners):
    files = {name: notebook((FIRST, answer)) for name, answer in handed_in.items()}
    (tmp_path / "handed in.zip").write_bytes(zipped(files))
    from_zip = collect.Class(tmp_path / "handed in.zip")
    if "__MACOSX/03.ipynb" not in files:  # a folder has none round it
        assert collect.Class(write(tmp_path / "class", files)).answers == from_zip.answers
    correct = {learner: answers["3.1"].correct for learner, answers in from_zip.answers.items()}
    assert list(correct.items()) == list(learners.items()) and from_zip.skipped == []


def test_a_zip_for_each_learner_and_what_is_no_notebook_or_too_large(tmp_path, notebook, monkeypatch):
    monkeypatch.setattr(collect, "MOST", 50_000)
    files = {"list.ipynb": "[1, 2]", "text.ipynb": '{"cells": "none"}', "notes.txt": "hello"}
    files |= {"half.ipynb": notebook((FIRST, 2))[:-9], "broken.zip": "PK"}
    pages = {"notebooks/04.ipynb": notebook((SECOND, 3))}  # the last page, wherever it stands in a ZIP
    pages["notebooks/03.ipynb"] = notebook((FIRST, 2), (SECOND, 7))
    inside = {"notes.txt": "hello", "again.zip": zipped(pages), "__pycache__/03.ipynb": notebook((DEEPER, 2))}
    inside["large.ipynb"] = notebook((DEEPER, 2)) + " " * 50_000
    (tmp_path / "anna.ZIP").write_bytes(zipped(pages | inside))
    if os.name == "posix":  # on Windows not everybody may make one
        elsewhere = write(tmp_path.parent / "elsewhere", pages)
        (tmp_path / "elsewhere").symlink_to(elsewhere, target_is_directory=True)
    whole_class = collect.Class(write(tmp_path, files))
    answered = {learner: set(answers) for learner, answers in whole_class.answers.items()}
    assert answered == {"anna": {"3.1", "10.2"}}
    assert whole_class.answers["anna"]["10.2"].sentence.startswith("That is <three>")
    of_anna = [f"anna.ZIP/{name}" for name in ("again.zip", "large.ipynb", "notes.txt")]
    assert whole_class.skipped == [*of_anna, *sorted(files)]


def test_the_page_to_the_letter_and_where_it_is(tmp_path, notebook, monkeypatch, capsys):
    """Sentences that differ in a number, or in what they say of other parts, are one wrong idea."""
    assert "http" not in collect.HTML
    assert ".correct {{ background: #d7efda }}" in collect.HTML and "✓ correct · ✗ not" in collect.HTML
    parts = "summary learners rows untried sentences skipped"
    monkeypatch.setattr(collect, "HTML", "\n".join(f"{{{part}}}" for part in parts.split()))
    monkeypatch.setattr(collect, "PAGE", tmp_path / "dist" / "collect.html")
    answers = {
        "anna": [(FIRST, 3), (PARTS, {"row": 3, "column": 7}), (SECOND, ...)], "&en": [(FIRST, 3)],
        "cem": [(DEEPER, NameError), (FIRST, 7), (PARTS, {"row": 3, "column": 5})], "fay": [(FIRST, NameError)],
        "dora": [(SECOND, 2), (FIRST, 8.5)], "eve": [(FIRST, 8.5), (LAST, ...), (PARTS, {"row": 2, "column": 5})],
    }  # fmt: skip
    files = {f"{name}.ipynb": notebook(*pairs) for name, pairs in answers.items()}
    assert collect.main([str(write(tmp_path / "class", files | {"&i.txt": ""}))]) == 0
    assert collect.PAGE.read_text(encoding="utf-8") == EXPECTED
    skipped, said = capsys.readouterr().out.splitlines()
    assert skipped.endswith(": &i.txt") and said.startswith(f"6 learners: open {collect.PAGE} ")
    table = collect.PAGE.with_suffix(".csv").read_text(encoding="utf-8-sig").splitlines()
    assert table[0] == "learner,3.1,3.2,10.2,10.10,D4.1"
    assert table[1] == "&en,not yet,not tried,not tried,not tried,not tried"
    assert table[6].startswith("fay,") and len(table) == 7


def test_a_learner_sees_what_is_solved_on_all_pages(tmp_path, notebook, capsys):
    pages = {"03.ipynb": notebook((FIRST, 2), (SECOND, 7)), "deeper/04.ipynb": notebook((DEEPER, ...))}
    assert not collect.main(["--solved", str(write(tmp_path, pages))])
    lines = ["✓ 3.1   A first one", "✗ 10.2  A second one", "– D4.1  A deeper one", "Solved: 1 of 3. "]
    assert capsys.readouterr().out.startswith("\n".join(lines))


def test_the_command_says_what_it_needs(tmp_path, monkeypatch, notebook, capsys):
    names = ["=1+1", "+1", "-1", "@1"]  # formulas to a spreadsheet
    learners = write(tmp_path, {"a.txt": ""} | {f"{name}.ipynb": notebook((FIRST, 2)) for name in names})
    for folder, code, said in (("a.txt", 1, "a.txt cannot be written"), ("", 0, "4 learners: open")):
        monkeypatch.setattr(collect, "PAGE", tmp_path / folder / "collect.html")
        assert collect.main([str(learners)]) == code and said in capsys.readouterr().out
    assert "Nothing was wrong." in collect.PAGE.read_text(encoding="utf-8")
    table = (tmp_path / "collect.csv").read_bytes()
    assert table.startswith(b"\xef\xbb\xbf")  # by this mark Excel knows UTF-8
    assert all(f"\n'{name},correct".encode() in table for name in names)
    collect.PAGE.unlink()
    assert collect.main([]) == collect.main([str(tmp_path / "nowhere")]) == 2
    assert collect.main([str(write(tmp_path / "empty", {"a.txt": ""}))]) == 1 and not collect.PAGE.exists()
