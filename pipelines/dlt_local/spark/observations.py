"""Numbers that Spark counts beside a query while it runs."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Observation


def observed_metrics(observation: Observation) -> Mapping[str, Any]:
    """What was counted, by name; 0 for each name where Spark knew without running that the frame has no rows."""
    if observation._jo is not None and observation._jo.getRow().size() == 0:
        return defaultdict(int)
    return observation.get
