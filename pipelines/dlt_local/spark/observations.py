"""Metrics that Spark collects while a query runs."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Observation

from dlt_local.spark import jvm


def observed_metrics(observation: Observation) -> Mapping[str, Any]:
    """The metrics by name; every metric is 0 if Spark knew without running the query that it has no rows."""
    return defaultdict(int) if jvm.is_empty(observation) else observation.get
