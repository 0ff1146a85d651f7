"""Switches: settings of a pipeline's configuration that are true or false."""

from pyspark.sql import SparkSession

from cdc.errors import RunCondition, RunError


class BadSwitch(RunError):
    """A setting that is true or false has another value."""

    def __init__(self, setting: str, value: str) -> None:
        super().__init__(
            RunCondition.BAD_SWITCH, setting, f"the value is `{value}`", "set it to `true` or `false`, or remove it."
        )


def is_on(spark: SparkSession, setting: str) -> bool:
    """Whether the pipeline's configuration has the setting as true; without it, false.

    Raises:
        BadSwitch: its value is neither true nor false.
    """
    value = str(spark.conf.get(setting, "false"))
    if value.strip().lower() not in ("true", "false"):
        raise BadSwitch(setting, value)
    return value.strip().lower() == "true"
