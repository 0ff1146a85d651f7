"""Dataset names, and every name that the engine itself owns."""

import re
from dataclasses import dataclass

OWN_PREFIX = "__dlt_local_"
"""No column of a user's dataset may begin so; every column that the engine adds on its way does."""

RESERVED_PREFIXES = (OWN_PREFIX, "__spark_autocdc_")
"""What no column of an AUTO CDC source may begin with: our own and that of Spark's own AUTO CDC."""

START_AT = "__START_AT"
END_AT = "__END_AT"

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


@dataclass(frozen=True, order=True)
class TableName:
    """A published or private dataset's full name inside one pipeline."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def sql(self) -> str:
        """Quoted for SQL text."""
        return f"{quote(self.schema)}.{quote(self.table)}"


def quote(identifier: str) -> str:
    """An identifier for SQL text, in backticks."""
    return "`" + identifier.replace("`", "``") + "`"


def parts(name: str) -> tuple[str, ...]:
    """Split a possibly quoted multi-part name.

    >>> parts("silver.`my.table`")
    ('silver', 'my.table')
    """
    return tuple((quoted or plain).replace("``", "`") for quoted, plain in _PART.findall(name))


def table_name(name: str, schema: str) -> TableName:
    """The full name of a dataset that a source file calls ``name``.

    A catalog in front is dropped: locally there is one catalog, the storage folder. ``LIVE.x`` is the older
    way to say: the dataset ``x`` of this pipeline.

    >>> str(table_name("orders", "default")), str(table_name("main.silver.orders", "default"))
    ('default.orders', 'silver.orders')
    """
    split = parts(name)
    if len(split) > 1 and split[-2].lower() != "live":
        return TableName(split[-2], split[-1])
    return TableName(schema, split[-1])
