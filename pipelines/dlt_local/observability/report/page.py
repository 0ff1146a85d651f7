"""Renders the report page: values in, the text of one HTML file out."""

import json
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from dlt_local.observability.report.page_data import page_data
from dlt_local.observability.report.runs import History

_PARTS = Path(__file__).with_name("page")
_SCRIPTS = ("values.js", "elements.js", "graph.js", "overview.js", "dataset.js", "main.js")
"""In the order in which the browser runs them; each uses only those before it."""


def render(pipeline: str, history: History) -> str:
    """The page: one file that loads nothing else.

    Args:
        pipeline: its name.
        history: the updates, of which the page shows the last one first, and what is known of their datasets.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_part("page.html.j2"))
    # Within a script nothing is escaped, so nothing may end it.
    data = json.dumps(page_data(pipeline, history), separators=(",", ":")).replace("<", "\\u003c")
    return template.render(
        pipeline=pipeline,
        state=history.runs[-1].state,
        style=Markup(_part("style.css")),
        data=Markup(data),
        scripts=[Markup(_part(name)) for name in _SCRIPTS],
    )


def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")
