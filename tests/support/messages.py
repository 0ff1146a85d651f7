"""Golden messages: the whole text of one error for each condition of the engine, and of the runs of `cdc`.

docs/troubleshooting.md shows them as examples. `UPDATE_GOLDEN=1 pytest tests/unit/test_messages.py
tests/pipeline/test_messages.py` rewrites them; review their diff.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "messages"
REJECT_MESSAGES = Path(__file__).parent / "reject_messages.txt"
"""One line for each reason of a reject: the reason and a message; tests/unit/test_decode_outcomes.py decodes them."""


def check_message(condition: str, error: object, folder: Path) -> None:
    """Compare the error's text with the golden one; ``folder`` is the test's own, and reads as `/data` there."""
    found = str(error).replace(str(folder), "/data")
    golden = FOLDER / f"{condition}.txt"
    assert found.startswith(condition), found
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(f"{found}\n", encoding="utf-8")
    assert golden.exists(), f"no golden message: set UPDATE_GOLDEN=1 to write {golden.name}"
    assert found == golden.read_text(encoding="utf-8").rstrip("\n")
