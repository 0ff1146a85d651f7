"""What is wrong with a bundle: faults as values, told all at once, each with its file and line."""

from collections.abc import Sequence

from dlt_local.errors import DeclarationError, LocalPipelineError


class BundleError(LocalPipelineError):
    """A bundle that cannot be read.

    Attributes:
        faults: all that was found.
    """

    def __init__(self, faults: Sequence[DeclarationError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def stop_if(faults: Sequence[DeclarationError]) -> None:
    """Raise what was found so far: what comes next would only find its consequences."""
    if faults:
        raise BundleError(faults)
