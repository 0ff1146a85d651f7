"""The version of this engine: that of the installed distribution, or the checkout that it runs from."""

from importlib import metadata
from pathlib import Path

DISTRIBUTION = "debezium-dlt"


def version() -> str:
    """The version of the distribution; of a checkout, where nothing is installed, its folder."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"(the checkout in {Path(__file__).parents[2]})"
