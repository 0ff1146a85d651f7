"""The documents' commands and links: what a reader copies out of them works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def commands(document: Path) -> list[list[str]]:
    """The commands of a document's bash blocks, as words; comments left out."""
    blocks = re.findall(r"```bash\n(.*?)```", document.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


EVERY = [words for document in DOCUMENTS for words in commands(document)]
OF_CDC = [words for words in EVERY if words[1:3] == ["-m", "cdc"]]
OF_THE_ENGINE = [words for words in EVERY if words[1:3] == ["-m", "dlt_local"]]


def run(words: list[str], replace: dict[str, str] | None = None) -> str:
    swapped = [(replace or {}).get(word, word) for word in words]
    swapped[0] = sys.executable
    done = subprocess.run(swapped, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(swapped)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_there_are_commands() -> None:
    assert OF_CDC
    assert OF_THE_ENGINE


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = {words[1] for words in EVERY if words[0] == "make"}
    assert told
    assert told <= targets


@pytest.mark.parametrize("words", OF_CDC, ids=shlex.join)
def test_commands_of_cdc_run(words: list[str]) -> None:
    assert run(words)


@pytest.mark.long
def test_commands_of_the_engine_run_in_the_order_told(tmp_path: Path) -> None:
    # A broker is started by the Kafka tests; here that block is left out.
    for words in OF_THE_ENGINE:
        if "cdc.source=kafka" not in words:
            assert run(words, {"/tmp/shop": str(tmp_path / "shop")})


def test_every_link_leads_somewhere() -> None:
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text()):
            if "://" not in link:
                assert (document.parent / link).exists(), f"{document.name}: {link}"
