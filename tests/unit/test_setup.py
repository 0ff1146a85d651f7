"""tools/setup.sh: a missing prerequisite is reported in one line, and finished steps are skipped."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dlt_local.errors import JavaMissing

ROOT = Path(__file__).parents[2]
TOOLS = ("bash", "env", "dirname", "cat", "head", "sed", "cksum", "mkdir", "chmod", "cp")

# Stands in for Python: writes down what it is asked to do, and does of it what the set-up looks for afterwards.
PYTHON = """
case "$*" in
  "-c import sys;"*) exit {fits} ;;
  *--version*) echo "Python 3.9.2" ;;
  "-c import ensurepip"*) exit {has_venv} ;;
  *sysconfig*) echo "$HOME/site" ;;
  "-m venv"*) mkdir -p .venv/bin "$HOME/site" && cp "$0" .venv/bin/python && echo venv >>"$HOME/done" ;;
  "-m pip"*) echo pip >>"$HOME/done" ;;
  *"jars spark") echo "$HOME/site" && echo jars >>"$HOME/done" ;;
  *"class-archive") echo archive >>"$HOME/done"; exit {archives} ;;
esac
"""


class Machine:
    """A checkout, and a machine that has only what a test installs."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.checkout = folder / "checkout"
        self.home = folder / "home"
        for made in (self.programs, self.home, self.checkout / "tools", self.checkout / "pipelines/dlt_local/spark"):
            made.mkdir(parents=True)
        for tool in TOOLS:
            self.programs.joinpath(tool).symlink_to(str(shutil.which(tool)))
        for file in ("tools/setup.sh", "requirements.txt", "pipelines/dlt_local/spark/ivy.xml"):
            shutil.copy(ROOT / file, self.checkout / file)
        self.environment = {"PATH": str(self.programs), "HOME": str(self.home)}

    def has(self, program: str, script: str) -> Path:
        file = self.programs / program
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        file.chmod(0o755)
        return file

    def has_python(self, fits: bool = True, has_venv: bool = True, archives: bool = True) -> None:
        status = {"fits": int(not fits), "has_venv": int(not has_venv), "archives": int(not archives)}
        self.has("python3", PYTHON.format(**status))

    def has_java(self, version: str) -> Path:
        return self.has("java", f"""echo 'openjdk version "{version}" 2021-01-19' >&2""")

    def set_up(self, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [str(self.checkout / "tools" / "setup.sh")]
        environment = self.environment | more
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def done(self) -> list[str]:
        """What was done since this was last asked."""
        log = self.home / "done"
        done = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return done


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def complaint(machine: Machine, **environment: str) -> str:
    """What is printed by a setup that cannot start."""
    result = machine.set_up(**environment)
    assert (result.returncode, result.stdout, machine.done()) == (1, "", [])
    return result.stderr.rstrip("\n")


def test_without_java(machine: Machine) -> None:
    machine.has_python()
    assert complaint(machine) == str(JavaMissing.from_absence(None))


def test_with_a_java_home_that_does_not_exist(machine: Machine) -> None:
    machine.has_python()
    machine.has_java("17.0.2")
    assert complaint(machine, JAVA_HOME="/no/such") == str(JavaMissing.from_absence("/no/such/bin/java"))


@pytest.mark.parametrize(("stated", "version"), [("11.0.22", "11"), ("1.8.0_402", "8"), ("16", "16")])
def test_with_an_old_java(machine: Machine, stated: str, version: str) -> None:
    machine.has_python()
    java = machine.has_java(stated)
    assert complaint(machine) == str(JavaMissing.from_version(str(java), version))


def test_with_a_java_that_is_not_java(machine: Machine) -> None:
    machine.has_python()
    machine.has("java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    assert "is Java of no known version\n  fix: install one" in complaint(machine)


def test_without_python(machine: Machine) -> None:
    machine.has_java("17.0.2")
    assert complaint(machine).startswith("Python 3.11 or newer is needed: no python3 is on PATH; install one (")


def test_with_an_old_python(machine: Machine) -> None:
    machine.has_java("17.0.2")
    machine.has_python(fits=False)
    assert complaint(machine).startswith("Python 3.11 or newer is needed: Python 3.9.2 is on PATH; install one (")


def test_with_a_python_that_cannot_make_environments(machine: Machine) -> None:
    machine.has_java("17.0.2")
    machine.has_python(has_venv=False)
    assert complaint(machine).startswith("Python's venv module is needed: python3 has none; install it (")


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_each_step_is_done_once(machine: Machine, version: str) -> None:
    machine.has_python()
    machine.has_java(version)
    assert (machine.set_up().returncode, machine.done()) == (0, ["venv", "pip", "jars", "archive"])
    again = machine.set_up()
    assert (again.returncode, again.stdout, again.stderr, machine.done()) == (0, "", "", [])
    assert (machine.home / "site" / "debezium-dlt.pth").read_text() == f"{machine.checkout}/pipelines\n"


def test_another_java_gets_an_archive_of_its_own(machine: Machine) -> None:
    machine.has_python()
    machine.has_java("17.0.2")
    machine.set_up()
    machine.done()
    machine.has_java("17.0.3")
    assert (machine.set_up().returncode, machine.done()) == (0, ["archive"])


def test_a_java_that_writes_no_archive_is_asked_once(machine: Machine) -> None:
    machine.has_python(archives=False)
    machine.has_java("17.0.2")
    assert (machine.set_up().returncode, machine.done()) == (0, ["venv", "pip", "jars", "archive"])
    assert (machine.set_up().returncode, machine.done()) == (0, [])


def test_a_changed_list_is_installed_and_a_changed_lock_fetched(machine: Machine) -> None:
    machine.has_python()
    machine.has_java("17.0.2")
    machine.set_up()
    machine.done()
    with (machine.checkout / "requirements.txt").open("a") as requirements:
        requirements.write("more==1\n")
    assert (machine.set_up().returncode, machine.done()) == (0, ["pip", "archive"])
    with (machine.checkout / "pipelines/dlt_local/spark/ivy.xml").open("a") as lock:
        lock.write("<!-- more -->\n")
    assert (machine.set_up().returncode, machine.done()) == (0, ["jars", "archive"])


def test_a_checkout_that_was_moved_gets_a_new_environment(machine: Machine) -> None:
    machine.has_python()
    machine.has_java("17.0.2")
    machine.set_up()
    machine.done()
    machine.checkout = machine.checkout.rename(machine.checkout.with_name("moved"))
    assert (machine.set_up().returncode, machine.done()) == (0, ["venv", "pip", "archive"])


def test_the_checkout_s_own_python_finds_the_engine() -> None:
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-m", "dlt_local", "--help"]
    run = subprocess.run(command, env=outside, cwd="/", capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Usage: python -m dlt_local")
