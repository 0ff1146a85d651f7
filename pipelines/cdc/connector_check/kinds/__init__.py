"""What is specific to a connector kind in the advice on a configuration; `RULES` is the only place that names kinds."""

from collections.abc import Mapping
from dataclasses import replace

from cdc.connector_check.config import DEFAULTS, Config
from cdc.connector_check.kinds import db2, mariadb, mongodb, mysql, postgresql, sqlserver
from cdc.connector_check.kinds.rules import Rules
from cdc.spec.kinds import KINDS

RULES: Mapping[str, Rules] = {
    each.kind: each
    for each in (
        sqlserver.RULES,
        postgresql.RULES,
        mysql.RULES,
        mariadb.RULES,
        mongodb.RULES,
        db2.RULES,
    )
}
"""Kind -> the rules for its connector's settings."""
CLASS = "connector.class"


def rules_of(config: Config) -> Rules | None:
    """The rules for a configuration, by its `connector.class`; None for a class that is not known."""
    found = (kind.name for kind in KINDS.values() if kind.connector_class == config.get(CLASS))
    return next((RULES[name] for name in found), None)


def with_defaults(config: Config, rules: Rules) -> Config:
    """A configuration with the defaults of its kind of connector."""
    return replace(config, defaults={**DEFAULTS, **rules.defaults})
