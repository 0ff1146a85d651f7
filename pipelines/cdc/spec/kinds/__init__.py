"""The kinds of connector, as far as specifications know them; `KINDS` is the only place here that names them."""

from collections.abc import Mapping
from dataclasses import fields

from cdc.spec.kinds import db2, mariadb, mongodb, mysql, postgresql, sqlserver
from cdc.spec.kinds.arguments import TypeFault
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import ConnectorSpec

KINDS: Mapping[str, Kind] = {
    each.name: each
    for each in (
        sqlserver.KIND,
        postgresql.KIND,
        mysql.KIND,
        mariadb.KIND,
        mongodb.KIND,
        db2.KIND,
    )
}
"""Name -> kind."""
DEFAULT = KINDS[ConnectorSpec("", "").kind]
"""The kind of a connector spec that states none."""
MODES = frozenset(
    (
        *(each.name for each in fields(ConnectorSpec) if each.name.endswith("_mode")),
        *(mode for kind in KINDS.values() for mode in kind.modes),
    )
)
"""The fields of a connector spec that not every kind has, or not with the same values."""
AUTO = "auto"
"""In place of a kind in a connector spec: the one that the connector's records name."""

__all__ = ["AUTO", "DEFAULT", "KINDS", "MODES", "Kind", "TypeFault", "kind_of"]


def kind_of(connector: ConnectorSpec) -> Kind:
    """The kind of a connector."""
    return KINDS[connector.kind]
