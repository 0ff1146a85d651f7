"""What a pipeline can and cannot guarantee with a Kafka Connect connector, judged by its configuration."""

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config, UnreadableConfig
from cdc.connector_check.fitting_spec import fitting_spec
from cdc.connector_check.rules import advice

__all__ = ["Advice", "Config", "Level", "UnreadableConfig", "advice", "fitting_spec"]
