"""docs/guides/own-connector.md, followed from top to bottom in a copy of the project; and what all guides keep to."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from demo.tables import rows
from pyspark.sql import SparkSession
from tests.bundle.test_project_bundle import IN_PRODUCTION
from tests.support import guides
from tests.support.guides import FOLDER, ROOT, Command, commands
from tests.support.shop_model import CAPTURES, expected

from cdc.__main__ import cdc
from dlt_local.bundle import bundle_pipeline, read_bundle
from dlt_local.bundle.deployment import deployment
from dlt_local.cli.main import main as engine

GUIDE = "own-connector.md"
ROUNDS = [CAPTURES / "1-snapshot.jsonl", CAPTURES / "2-round.jsonl"]
NAMED = IN_PRODUCTION | {"operators": "operators", "alert_email": "operators@example.com"}
"""Values of the bundle's variables without the demo's name."""
SHIPPED = ("databricks.yml", "bundles", "conf", "notebooks", "pipelines", "tools")


@dataclass
class Reader:
    """Someone who types what the guide says, in a copy of the project."""

    folder: Path
    home: Path
    outputs: dict[str, str] = field(default_factory=dict)
    """Command -> what it printed."""

    def type(self, command: Command) -> None:
        """Run a command; it must end as the guide says."""
        text = command.text.replace("~/", f"{self.home}/").replace("$HOME", str(self.home))
        words = Command(text, None).words
        wanted = 2 if words[:4] == ["python", "-m", "cdc", "plan"] else 0
        if words[:2] == ["python", "-m"] and words[2] in ("cdc", "dlt_local"):
            with chdir(self.folder):
                ran = CliRunner().invoke(cdc if words[2] == "cdc" else engine, words[3:], catch_exceptions=False)
            status, output = ran.exit_code, ran.output
        else:
            status, output = self._shell(text)
        assert status == wanted, f"{text}\n{output}"
        self.outputs[command.text] = output

    def printed_by(self, start: str) -> str:
        """The output of the command that starts like this."""
        (found,) = (output for text, output in self.outputs.items() if text.startswith(start))
        return found

    def _shell(self, text: str) -> tuple[int, str]:
        path = os.pathsep.join([str(self.folder), str(ROOT / "pipelines")])
        line = text.replace("python ", f"{sys.executable} ", 1) if text.startswith("python ") else text
        ran = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout + ran.stderr


def stand_ins(folder: Path, home: Path) -> None:
    """What Kafka and Kafka Connect would have given: the shop's records and connector, called `sales`."""
    every = [record for file in ROUNDS for record in file.read_text(encoding="utf-8").splitlines()]
    named = [record.replace("shop", "sales") for record in every]
    (home / "sales/captures").mkdir(parents=True)
    topics = {"schema-changes": "", "orders": ".sales.dbo.orders", "customers": ".sales.dbo.customers"}
    for name, topic in topics.items():
        lines = [f"{line}\n" for line in named if json.loads(line)["topic"] == f"salesserver{topic}"]
        (home / f"sales/captures/{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    connector = json.loads((ROOT / "docs/connector.example.json").read_text().replace("shop", "sales"))
    # The shop's connector left these at their defaults.
    for setting in ("time.precision.mode", "provide.transaction.metadata", "heartbeat.interval.ms"):
        del connector["config"][setting]
    (folder / "connector.json").write_text(json.dumps(connector))


def spec_of_connector(printed: str) -> str:
    """The connector spec with which `check-connector` ends."""
    return printed[printed.index("# conf/connectors/") :]


@pytest.fixture(scope="module")
def reader(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader who has followed the guide to its end."""
    assert spark
    base = tmp_path_factory.mktemp("guide")
    reader = Reader(base / "project", base / "home")
    reader.folder.mkdir()
    for name in SHIPPED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, reader.folder / name)
    stand_ins(reader.folder, reader.home)
    for command in commands(GUIDE):
        if command.needs:
            continue
        if "--records" in command.text:
            spec = spec_of_connector(reader.printed_by("python -m cdc check-connector"))
            (reader.folder / "conf/connectors/sales.yml").write_text(spec, encoding="utf-8")
        reader.type(command)
    yield reader


def test_the_rows_are_those_of_the_source(reader: Reader) -> None:
    model = expected(ROUNDS)
    for table in ("orders", "customers"):
        found = rows(reader.home / f"sales/storage/tables/gold/{table}")
        assert len(found) == len(model[table].rows) > 0
    masked = [row["email"] for row in rows(reader.home / "sales/storage/tables/gold/customers") if row["email"]]
    assert masked and all(re.fullmatch(r"[0-9a-f]{64}", email) for email in masked)


def test_the_commands_say_what_the_guide_says(reader: Reader) -> None:
    assert "customers: needs a rebuild" in reader.printed_by("python -m cdc plan")
    assert "no faults" in reader.printed_by("python -m cdc check conf --bundle")
    assert "[dev deployer] sales" in reader.printed_by("python -m tools.render_bundle")


@pytest.mark.parametrize("target", ["dev", "staging", "prod", "local"])
def test_the_bundle_is_the_demos_with_another_name(reader: Reader, target: str) -> None:
    own, demos = (
        read_bundle(folder, target, {} if target == "local" else NAMED, "ada@example.com")
        for folder in (reader.folder, ROOT)
    )
    renamed = json.dumps(deployment(demos)).replace(str(ROOT), str(reader.folder)).replace("shop", "sales")
    found = deployment(own)
    for kind, key in (("pipelines", "crm"), ("jobs", "update_crm")):
        found["resources"][kind].pop(key)
    assert found == json.loads(renamed)


def test_a_second_connector_is_deployed_like_the_first(reader: Reader, tmp_path: Path) -> None:
    for name in ("databricks.yml", "bundles"):
        copy = shutil.copytree if (reader.folder / name).is_dir() else shutil.copy
        copy(reader.folder / name, tmp_path / name)
    (tmp_path / "pipelines").mkdir()
    for path, text in guides.files(GUIDE).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    production = tmp_path / "bundles/production.yml"
    text = production.read_text(encoding="utf-8").replace("update_sales:", "update_sales: &job")
    text = text.replace("        sales:\n", "        sales: &pipeline\n")
    text = text.replace("      pipelines:\n", "        update_crm: *job\n      pipelines:\n")
    production.write_text(text.replace("  prod:", "        crm: *pipeline\n  prod:"), encoding="utf-8")
    bundle = read_bundle(tmp_path, "prod", IN_PRODUCTION)
    first, second = (bundle_pipeline(bundle, name) for name in ("sales", "crm"))
    assert second.configuration == {**first.configuration, "cdc.connector": "crm"}
    resources = deployment(bundle)["resources"]
    assert resources["pipelines"]["crm"]["notifications"] == resources["pipelines"]["sales"]["notifications"]
    assert "email_notifications" in resources["jobs"]["update_crm"]


OUTSIDE = {"curl", "kcat", "databricks", "export"}
GUIDES = ("own-connector.md", "operate.md", "migrate.md")


@pytest.mark.parametrize("guide", GUIDES)
def test_commands_for_which_more_is_needed_are_marked(guide: str) -> None:
    found = commands(guide)
    assert found
    assert [each.text for each in found if (each.words[0] in OUTSIDE) != bool(each.needs)] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_every_source_that_a_statement_names_is_listed(guide: str) -> None:
    named, listed = guides.sources(guide)
    assert named == listed


@pytest.mark.parametrize("guide", sorted(path.name for path in FOLDER.glob("*.md")))
def test_a_guide_holds_no_secret(guide: str) -> None:
    text = (FOLDER / guide).read_text(encoding="utf-8")
    values = re.findall(r"(?i)(?:password|secret|token)[\"']?\s*[:=]\s*[\"']?([^\s\"'};]+)", text)
    assert [value for value in values if "..." not in value and not value.startswith(("{{secrets/", "$", "`<"))] == []
