"""The rules of the page contract let a good page pass, and each refuses a page that breaks it."""

import cell_rules
import page_rules
import pytest
from cell_rules import CELL_RULES
from notebook_page import Page
from page_rules import START_RULES, STEP_RULES
from refresh_notebooks import WIDGET_VIEW, normalise
from sample_page import NAME, code, picture, printed, prose, sample_page, shown_as_html, write_page


@pytest.mark.parametrize("rule", STEP_RULES + CELL_RULES, ids=lambda rule: rule.__name__)
def test_a_good_page_passes(rule, tmp_path):
    assert rule(Page(write_page(sample_page(), tmp_path))) == []


def _replace(old, new):
    def break_it(notebook):
        cells = [cell for cell in notebook.cells if old in cell.source]
        assert cells, f"the sample page has no {old!r}"
        cells[0].source = cells[0].source.replace(old, new)

    return break_it


def _add(*cells):
    def break_it(notebook):
        notebook.cells += cells
        normalise(notebook, NAME)

    return break_it


def _drop(text):
    def break_it(notebook):
        notebook.cells = [cell for cell in notebook.cells if text not in cell.source]
        normalise(notebook, NAME)

    return break_it


def _outputs(text, *outputs):
    """Give the first code cell that contains `text` these outputs, as they are."""

    def break_it(notebook):
        cell = next(c for c in notebook.cells if c.cell_type == "code" and text in c.source)
        cell.outputs = list(outputs)

    return break_it


def _tagged(*tags):
    def break_it(notebook):
        notebook.cells[-1].metadata["tags"] = list(tags)

    return break_it


def _view(notebook):
    shown = next(c for c in notebook.cells if "scores_explorer" in c.source).outputs[0]
    shown.data[WIDGET_VIEW] = {"model_id": "a", "version_major": 2, "version_minor": 0}


BROKEN = [
    ("opens_with_a_question", _replace("# Who asks whom?", "# Scores")),
    ("opens_with_a_question", _replace("**You need** notebook 02.\n", "")),
    ("opens_with_a_question", _replace("15–20 minutes", "a while")),
    ("opens_with_a_question", _add(prose("# Another title"))),
    ("has_the_sections_in_order", _drop("## See it")),
    ("has_the_sections_in_order", _replace("## By hand", "## In PyTorch")),
    ("has_the_sections_in_order", _add(prose("## More"))),
    ("sections_are_at_the_start_of_a_cell", _replace("## By hand", "First.\n\n## By hand")),
    ("predict_asks_before_it_tells", _replace("How large is it?", "Think.")),
    ("predict_asks_before_it_tells", _replace("<details>", "")),
    ("details_render", _replace("</summary>\n\n", "</summary>\n")),
    ("details_render", _replace("</details>", "")),
    ("sections_run_code", _outputs("print(1 * 3")),
    ("shows_pictures", _outputs("heatmap(scores", printed("a heatmap\n"))),
    ("says_that_both_ways_agree", _outputs("both agree", printed("tensor(3)\n"))),
    ("plays_with_its_explorer", _replace("scores_explorer", "mask_explorer")),
    ("plays_with_its_explorer", _replace("**Try this** Choose two heads.", "")),
    ("has_three_exercises", _replace("★★ · 3 min", "medium")),
    ("has_three_exercises", _replace("score_2.check", "score_1.check")),
    ("has_three_exercises", _replace("# exercises.score_2.hint()", "")),
    ("has_three_exercises", _replace("# exercises.score_3.solution()", "exercises.score_3.solution()")),
    ("has_three_exercises", _replace("Exercise 3.2", "Exercise 3.4")),
    ("has_three_exercises", _drop("score_3")),
    ("its_minutes_add_up", _replace("and 9 for", "and 8 for")),
    ("its_minutes_add_up", _replace("★★ · 3 min", "★★ · 4 min")),
    ("its_minutes_add_up", _replace(", and 9 for the exercises", "")),
    ("has_a_ledger", _replace("| scores | (n, n) |", "")),
    ("recap_names_its_source", _replace("section 3.2.1", "")),
    ("recap_names_its_source", _replace("04_scaling.ipynb", "05_causal_mask.ipynb")),
    ("its_signposts_read_alike", _replace("<summary>Open the answer", "<summary>Answer")),
    ("its_signposts_read_alike", _replace("Replace the three dots", "Fill in")),
    ("its_signposts_read_alike", _replace("**How to catch it:**", "**Catch it:**")),
    ("its_signposts_read_alike", _replace("catch it:** look", "catch it:** Look")),
    ("its_signposts_read_alike", _replace("**Where this comes from:**", "Where this comes from:")),
    ("its_signposts_read_alike", _replace("**Next:**", "Next:")),
    ("first_code_cell_is_the_setup_cell", _replace("sci_mode=False", "sci_mode=True")),
    ("first_code_cell_is_the_setup_cell", _replace('REPOSITORY = ""', "")),
    ("first_code_cell_is_the_setup_cell", _add(code('REPOSITORY = "a/b"'))),
    ("was_run_from_top_to_bottom", lambda notebook: notebook.cells[3].update(execution_count=None)),
    ("was_run_from_top_to_bottom", lambda notebook: notebook.cells[3].update(execution_count=7)),
    ("was_run_from_top_to_bottom", _add(code(""))),
    ("shows_its_outputs", _outputs("heatmap(scores")),
    ("shows_its_outputs", _outputs("print(1 * 3")),
    ("is_in_the_stored_form", lambda notebook: notebook.metadata.update(widgets={})),
    ("is_in_the_stored_form", lambda notebook: notebook.cells[2].update(id="something-else")),
    ("is_in_the_stored_form", lambda notebook: notebook.cells[3].metadata.update(execution={})),
    ("is_in_the_stored_form", _tagged("nbval-ignore-output")),
    ("is_in_the_stored_form", _tagged("nbval-skip")),
    ("is_in_the_stored_form", _view),
    ("is_in_the_stored_form", _outputs("print(1 * 3", printed("1" * 600_001))),
    ("outputs_hold_everywhere", _outputs("print(1 * 3", printed("a warning", "stderr"))),
    ("outputs_hold_everywhere", _outputs("print(1 * 3", printed("<object at 0x7f21aa90>"))),
    ("outputs_hold_everywhere", _outputs("print(1 * 3", printed("/home/me/course/x.py"))),
    ("outputs_hold_everywhere", _outputs("print(1 * 3", printed("C:\\Users\\me"))),
    ("outputs_hold_everywhere", _outputs("print(1 * 3", printed("VBox(children=(IntSlider(value=3),))"))),
    (
        "outputs_hold_everywhere",
        _outputs("print(1 * 3", shown_as_html('<img src="data:image/png;base64,AA">')),
    ),
    ("outputs_hold_everywhere", _tagged("raises-exception")),
    ("pictures_have_words", _outputs("heatmap(scores", picture(alt=""))),
    ("pictures_have_words", _add(prose("![](picture.png)"))),
    ("pictures_have_words", _add(prose('<img src="picture.png">'))),
    ("code_is_for_reading", _add(code("\n".join(f"x{i} = {i}" for i in range(26))))),
    ("code_is_for_reading", _add(code(f"total = {' + '.join(['1'] * 25)}"))),
    ("code_is_for_reading", _add(code("x = 1;"))),
    ("code_is_for_reading", _add(code("widgets.interact(f, d_k=(1, 8))"))),
    ("code_is_for_reading", _add(code("out = widgets.Output()"))),
    ("code_is_for_reading", _add(code("%matplotlib inline"))),
    ("code_is_for_reading", _add(code("start = time.perf_counter()"))),
    ("prose_is_short", _add(prose("word " * 131))),
    ("words_are_plain", _add(prose("Just multiply."))),
    ("words_are_plain", _add(code("x = 1  # obviously one"))),
    ("words_are_plain", _add(prose("Each head has a color."))),
    ("words_are_plain", _outputs("print(1 * 3", printed("normalized\n"))),
    ("words_are_plain", _add(prose("TODO: write this"))),
    ("quotation_marks_are_curly", _add(prose('The key of "fish" answers.'))),
    ("links_lead_somewhere", _add(prose("[there](10_nothing.ipynb)"))),
    ("links_lead_somewhere", _add(prose("[there](../no_such_file.md)"))),
    ("says_what_is_on_a_slide", lambda notebook: notebook.cells[3].metadata.pop("slideshow")),
    ("says_what_is_on_a_slide", _add(prose("Now look.", slide_type="a slide"))),
    ("says_what_is_on_a_slide", _add(prose("Now look:", slide_type="slide"), code("1 + 1"))),
    ("runs_soon", _add(code('name = input("Your name? ")'))),
]


@pytest.mark.parametrize(
    ("rule", "break_it"), BROKEN, ids=[f"{name}-{i}" for i, (name, _) in enumerate(BROKEN)]
)
def test_a_rule_refuses_what_breaks_it(rule, break_it, tmp_path):
    notebook = sample_page()
    break_it(notebook)
    function = getattr(page_rules, rule, None) or getattr(cell_rules, rule)
    assert function(Page(write_page(notebook, tmp_path)))


def test_every_rule_is_shown_to_refuse_something():
    tried = {name for name, _ in BROKEN} | {"start_page_leads_on"}
    assert tried == {rule.__name__ for rule in START_RULES + STEP_RULES + CELL_RULES}


def test_the_start_page_must_lead_on(tmp_path):
    page = Page(write_page(sample_page(), tmp_path, "00_start_here"))
    faults = page_rules.start_page_leads_on(page)
    assert any("attention_explorer" in fault for fault in faults)
    assert any("09_concat_and_output" in fault for fault in faults)
    assert not any("04_scaling" in fault for fault in faults)  # the one that is linked


def test_words_that_only_look_like_banned_ones_pass(tmp_path):
    notebook = sample_page()
    _add(prose("Adjust it. `color=` is matplotlib's word; justice."), code("x = 1  # unjust"))(notebook)
    assert cell_rules.words_are_plain(Page(write_page(notebook, tmp_path))) == []
