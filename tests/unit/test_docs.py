"""Commands in the documentation run, links resolve, and decision files are named by their titles."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def commands(document: Path) -> list[list[str]]:
    """Return the commands in a document's bash blocks, split into words, without comments."""
    blocks = re.findall(r"```bash\n(.*?)```", document.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


IN_ORDER = ROOT / "docs/guides/sdp-meta.md"
"""A page whose commands read what earlier ones have written."""
COMMANDS = [words for document in DOCUMENTS for words in commands(document)]
CDC_COMMANDS = [words for words in COMMANDS if words[1:3] == ["-m", "cdc"] and words not in commands(IN_ORDER)]
ENGINE_COMMANDS = [words for words in COMMANDS if words[1:3] == ["-m", "dlt_local"]]


def run(words: list[str], replace: dict[str, str] | None = None) -> str:
    command = [sys.executable, *((replace or {}).get(word, word) for word in words[1:])]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{shlex.join(command)}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def test_there_are_commands() -> None:
    assert CDC_COMMANDS
    assert ENGINE_COMMANDS


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documented = {words[1] for words in COMMANDS if words[0] == "make"}
    assert documented
    assert documented <= targets


@pytest.mark.parametrize("words", CDC_COMMANDS, ids=shlex.join)
def test_cdc_commands_run(words: list[str], tmp_path: Path) -> None:
    assert run(words, {"/tmp/shop": str(tmp_path)})


def test_commands_run_in_the_order_of_their_page(tmp_path: Path) -> None:
    documented = commands(IN_ORDER)
    assert [words[3] for words in documented] == ["export", "import", "scaffold", "check"]
    for words in documented:
        assert run([word.replace("/tmp/shop", str(tmp_path)) for word in words])


@pytest.mark.long
def test_engine_commands_run_in_the_documented_order(tmp_path: Path) -> None:
    # The Kafka tests start a broker; without one this block cannot run.
    for words in ENGINE_COMMANDS:
        if "cdc.source=kafka" not in words:
            assert run(words, {"/tmp/shop": str(tmp_path / "shop")})


def anchors(document: Path) -> set[str]:
    """The anchors of a page: of its headings, as GitHub makes them, and those that it sets itself."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


def unresolved(link: str, base: Path) -> bool:
    """Whether a link to a file, or to an anchor in it, leads nowhere."""
    name, _, anchor = link.partition("#")
    return not (base / name).exists() or (anchor != "" and anchor not in anchors(base / name))


def test_every_link_resolves() -> None:
    links = [
        (document, f"{name or document.name}{anchor}")
        for document in DOCUMENTS
        for name, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", document.read_text())
        if "://" not in name
    ]
    assert [f"{document.name}: {link}" for document, link in links if unresolved(link, document.parent)] == []


def test_every_page_that_the_code_or_a_message_names_exists() -> None:
    files = [
        file
        for folder in ("pipelines", "conf", "bundles", "notebooks", "tools")
        for file in ROOT.glob(f"{folder}/**/*")
    ]
    texts = {file: file.read_text() for file in files if file.suffix in (".py", ".yml", ".json", ".template")}
    named = [
        (file, page) for file, text in texts.items() for page in re.findall(r"docs/[\w/.-]+\.md(?:#[\w-]+)?", text)
    ]
    assert len(named) > 20
    assert [f"{file.relative_to(ROOT)}: {page}" for file, page in named if unresolved(page, ROOT)] == []


def test_decision_files_are_named_by_their_titles_and_listed() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text()
    for file in sorted((ROOT / "docs/decisions").glob("0*.md")):
        number, title = file.read_text().splitlines()[0].removeprefix("# ").split(". ", 1)
        words = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", ""))
        assert file.name == f"{int(number):04}-{words}.md"
        assert f"{number}. [{title}]({file.name})" in index
