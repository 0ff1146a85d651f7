"""All advice on a connector's configuration, sorted by level."""

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.completeness import of_completeness
from cdc.connector_check.config import Config
from cdc.connector_check.kinds import rules_of, with_defaults
from cdc.connector_check.order import of_order
from cdc.connector_check.topics import of_topics
from cdc.connector_check.values import of_values

_SUBJECTS = (of_topics, of_completeness, of_order, of_values)


def advice(config: Config) -> tuple[Advice, ...]:
    """Advice on all settings: the most severe level first, and within a level from topics to values.

    Of a connector that is not known, the settings are judged that all connectors have.
    """
    rules = rules_of(config)
    known = with_defaults(config, rules) if rules else config
    found = [each for subject in _SUBJECTS for each in subject(known, rules)]
    return tuple(sorted(found, key=lambda each: list(Level).index(each.level)))
