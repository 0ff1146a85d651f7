"""The engine's errors: each message has the condition, the dataset, the place and the fix."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class LocalPipelineError(Exception):
    """Base class of every error of the local engine."""


@dataclass(frozen=True)
class SourceLocation:
    """The place where a dataset or flow is declared."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class DeclarationError(LocalPipelineError):
    """A declaration that is not valid, here or on Databricks; raised before anything runs.

    Attributes:
        condition: the name of the error condition, such as ``AUTOCDC_EMPTY_KEYS``.
        location: the place of the declaration, if known.
    """

    def __init__(self, condition: str, message: str, location: SourceLocation | None = None, fix: str = "") -> None:
        self.condition = condition
        self.location = location
        super().__init__(_text(condition, str(location or ""), message, fix))


class FlowError(LocalPipelineError):
    """A flow that failed while it ran; its uncommitted rows are not in the table.

    Attributes:
        condition: the name of the error condition.
        dataset: the dataset that the flow writes to.
        is_permanent: True if the flow would fail again, however often it were run, until its user does something.
    """

    def __init__(
        self, condition: str, dataset: str, message: str, fix: str = "", *, is_permanent: bool = False
    ) -> None:
        self.condition = condition
        self.dataset = dataset
        self.is_permanent = is_permanent
        super().__init__(_text(condition, dataset, message, fix))


class StorageAltered(FlowError):
    """What an update continues from was lost or altered since the last one; nothing of the dataset is written."""

    def __init__(self, condition: str, dataset: str, message: str, fix: str = "") -> None:
        super().__init__(condition, dataset, message, fix, is_permanent=True)


class ExpectationFailed(FlowError):
    """A row violated an `expect_or_fail` expectation; nothing of the microbatch was committed."""


class SetupError(LocalPipelineError):
    """An error outside of declarations and flows: in the machine, the storage or the command line.

    Attributes:
        condition: the name of the error condition.
    """

    def __init__(self, condition: str, place: object, message: str, fix: str = "") -> None:
        self.condition = condition
        super().__init__(_text(condition, str(place), message, fix))


class JavaMissing(SetupError):
    """No Java 17 or newer on this machine."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "JAVA_MISSING",
            "",
            f"Java 17 or newer is needed: {what}",
            "install one (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) "
            "or let JAVA_HOME point at it",
        )

    @classmethod
    def from_absence(cls, path: str | None) -> "JavaMissing":
        """No java at ``path`` below $JAVA_HOME, or, if that is not set, on PATH."""
        return cls(f"{path} does not exist" if path else "no java on PATH and JAVA_HOME is not set")

    @classmethod
    def from_version(cls, path: str, version: str) -> "JavaMissing":
        """The java at ``path`` is too old."""
        return cls(f"{path} is Java {version}")


class JarsNotFetched(SetupError):
    """Ivy could not resolve or fetch the jars."""

    def __init__(self, configuration: str, output: str) -> None:
        failures = [line.strip() for line in output.splitlines() if "UNRESOLVED" in line or "not found" in line]
        detail = "\n    ".join(failures[:10] or output.splitlines()[-10:])
        super().__init__(
            "JARS_NOT_FETCHED",
            "",
            f"the jars of `{configuration}` (ivy.xml) could not be fetched from Maven:\n    {detail}",
            "check the network, or the Maven mirror that Ivy is configured to use, then try again:"
            " python -m dlt_local jars",
        )


class ClassArchiveNotWritten(SetupError):
    """Java ended without an archive of its classes."""

    def __init__(self, archive: object) -> None:
        super().__init__(
            "CLASS_ARCHIVE_NOT_WRITTEN",
            archive,
            "Java ended without an archive of its classes; pipelines run without it, they only start more slowly",
            "a Java that has an archive of its own classes is needed, which `java -Xshare:dump` makes;"
            " then: dlt-local class-archive",
        )


def _text(condition: str, place: str, message: str, fix: str) -> str:
    return f"{condition}{f'  {place}' if place else ''}\n  {message}" + (f"\n  fix: {fix}" if fix else "")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint to append to a message; empty if no known name is similar.

    >>> did_you_mean("ordrs", ["orders", "customers"])
    ' (did you mean `orders`?)'
    """
    near = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" (did you mean `{near[0]}`?)" if near else ""
