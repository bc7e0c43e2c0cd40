"""A notebook as HTML for reading, made from its stored outputs, with words for every picture.

nbconvert leaves out the text alternative that a picture's metadata holds; its own page then says "No
description has been provided for this image" to a screen reader. This page says what the picture shows.
"""

from __future__ import annotations

from jinja2 import DictLoader
from nbconvert import HTMLExporter
from nbformat.notebooknode import NotebookNode

PAGE = """\
{%- extends 'lab/index.html.j2' -%}
{%- block data_png scoped -%}
{%- set words = output | get_metadata('alt', 'image/png') -%}
{%- if words -%}
{{ super() | replace('<img ', '<img alt="' ~ (words | escape_html) ~ '" ', 1) }}
{%- else -%}
{{ super() }}
{%- endif -%}
{%- endblock -%}
"""


def reading_exporter(**options) -> HTMLExporter:
    """nbconvert's HTML exporter with the text alternatives; `options` are its own."""
    return HTMLExporter(
        extra_loaders=[DictLoader({"reading_page.html.j2": PAGE})],
        template_file="reading_page.html.j2",
        **options,
    )


def as_html(notebook: NotebookNode, **options) -> str:
    """`notebook` as one HTML page; nothing is run."""
    return reading_exporter(**options).from_notebook_node(notebook)[0]
