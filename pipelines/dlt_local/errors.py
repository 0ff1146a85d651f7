"""What the engine says when something is not as it must be: the condition, the dataset, the place, the way out."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class LocalPipelineError(Exception):
    """Root of every error of the local engine."""


class JavaMissing(LocalPipelineError):
    """No Java 17 or newer on this machine."""

    _HOW = (
        "install one (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) "
        "or let JAVA_HOME point at it"
    )

    @classmethod
    def from_absence(cls, looked_at: str | None) -> "JavaMissing":
        """No java at $JAVA_HOME (then ``looked_at``) or on PATH."""
        where = f"{looked_at} does not exist" if looked_at else "no java on PATH and JAVA_HOME is not set"
        return cls(f"Java 17 or newer is needed: {where}; {cls._HOW}")

    @classmethod
    def from_version(cls, path: str, version: str) -> "JavaMissing":
        """There is a java, but an old one."""
        return cls(f"Java 17 or newer is needed: {path} is Java {version}; {cls._HOW}")


class JarsNotFetched(LocalPipelineError):
    """Ivy could not bring the JVM parts."""

    def __init__(self, configuration: str, output: str) -> None:
        told = [line.strip() for line in output.splitlines() if "UNRESOLVED" in line or "not found" in line]
        detail = "\n  ".join(told[:10] or output.splitlines()[-10:])
        super().__init__(
            f"the jars of `{configuration}` (ivy.xml) could not be fetched from Maven:\n  {detail}\n"
            "fix: look at the network, or at the Maven mirror that Ivy is set to use, then try again"
        )


@dataclass(frozen=True)
class SourceLocation:
    """Where a dataset or flow is declared."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class DeclarationError(LocalPipelineError):
    """A declaration that Databricks refuses too, or that names what does not exist; raised before anything runs.

    Attributes:
        condition: its name, such as ``AUTOCDC_EMPTY_KEYS``.
        location: where the declaration stands, if it is known.
    """

    def __init__(self, condition: str, message: str, location: SourceLocation | None = None, fix: str = "") -> None:
        self.condition = condition
        self.location = location
        where = f"  {location}" if location else ""
        super().__init__(f"{condition}{where}\n  {message}" + (f"\n  fix: {fix}" if fix else ""))


class FlowError(LocalPipelineError):
    """A flow that failed while it ran; what it had not committed is not in the table."""

    def __init__(self, condition: str, dataset: str, message: str, fix: str = "") -> None:
        self.condition = condition
        self.dataset = dataset
        super().__init__(f"{condition}  {dataset}\n  {message}" + (f"\n  fix: {fix}" if fix else ""))


class ExpectationFailed(FlowError):
    """A row broke an expectation of the kind `expect_or_fail`; the whole batch was rolled back."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """`` (did you mean `orders`?)``, or nothing where no known name is near."""
    near = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" (did you mean `{near[0]}`?)" if near else ""
