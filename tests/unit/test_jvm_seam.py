"""The private attributes of pyspark, which may change with any release, are used in one folder only."""

import re
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "pipelines" / "dlt_local"
PRIVATE = re.compile(r"\._(jdf|jvm|jo|jc|jsc|jspark\w+|jwrite|jreader|gateway)\b")


def test_only_one_folder_touches_jvm_internals() -> None:
    users = {file.parent.relative_to(ENGINE) for file in ENGINE.rglob("*.py") if PRIVATE.search(file.read_text())}
    assert users == {Path("spark/jvm")}
