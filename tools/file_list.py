"""Writes the file lists of ARCHITECTURE.md: each file with the first sentence that it says about itself.

Run it after adding a file or changing its first line: ``python -m tools.file_list``.
"""

import ast
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
START, END = "<!-- files: written by `python -m tools.file_list` -->\n", "<!-- end of files -->\n"
_FOLDERS = ("pipelines", "bundles", "demo", "notebooks", "tools")


def described_files() -> Iterator[tuple[str, str]]:
    """Every file that has a line, with what it says about itself; a folder is what its __init__.py says.

    Specs, which are in folders called conf, have none.
    """
    for folder in _FOLDERS:
        for file in sorted((ROOT / folder).rglob("*"), key=lambda each: (each.parent, each.name)):
            is_source = file.suffix in (".py", ".yml", ".sh", ".xml") or file.name.endswith(".schema.json")
            if is_source and not {"__pycache__", "conf"} & set(file.relative_to(ROOT).parts):
                yield str(file.relative_to(ROOT)), first_line(file)


def first_line(file: Path) -> str:
    """The first line of its docstring, comment, or JSON Schema's description; empty if it has none."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or _comment(text)).partition("\n")[0]
    if file.suffix == ".json":
        return str(json.loads(text).get("description", "")).partition("\n")[0]
    if file.suffix == ".xml":
        return text.partition("<!--")[2].partition("-->")[0].strip().partition("\n")[0]
    return _comment(text)


def _comment(text: str) -> str:
    """The first comment that says something: no shebang, editor hint or notebook mark."""
    lines = (line.removeprefix("# MAGIC").strip("#! ") for line in text.splitlines() if line.startswith("#"))
    marks = ("/", "yaml-language", "Databricks notebook", "%md")
    return next((line for line in lines if line and not line.startswith(marks)), "")


def file_lists() -> str:
    """One heading per folder, then one line per file."""
    parts = []
    for folder, files in groupby(described_files(), key=lambda each: str(Path(each[0]).parent)):
        listed = dict(files)
        head = listed.pop(f"{folder}/__init__.py", "")
        parts.append(f"### {folder}\n\n" + (f"{head}\n\n" if head else ""))
        parts += [
            f"- `{Path(name).name}`: {line}\n" if line else f"- `{Path(name).name}`\n" for name, line in listed.items()
        ]
        parts.append("\n")
    return "".join(parts)


def page_with_files(page: str) -> str:
    """The page with its file lists as they should be."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{file_lists()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_files(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
