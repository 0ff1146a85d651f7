"""The error of a faulty bundle: all faults at once, each with its file and line."""

from collections.abc import Sequence

from dlt_local.errors import DeclarationError, LocalPipelineError


class BundleError(LocalPipelineError):
    """A bundle that cannot be read.

    Attributes:
        faults: every fault that was found.
    """

    def __init__(self, faults: Sequence[DeclarationError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def stop_if(faults: Sequence[DeclarationError]) -> None:
    """Raise the faults found so far, if any: later steps would only report their consequences."""
    if faults:
        raise BundleError(faults)
