"""MySQL's types: those of MySQL 5.5 from records of its connector, later ones from the same code's MariaDB records."""

from collections.abc import Mapping
from typing import Any

from tools.type_pages import binlog, page

_OF_MYSQL = binlog.capture_of("mysql", "3.6.1.Final")
_OF_MARIADB = binlog.capture_of("mariadb", "3.5.0.Final")
_COLUMNS = binlog.type_columns("mariadb", "mysql")
_VECTOR = ("c_vector", "vector(2)")
"""As Debezium's documents have it: of MySQL 9, which no server here is."""
_VALUE = [1.5, -2.0]


def _image(modes: page.Modes) -> Mapping[str, Any]:
    of_both = {**binlog.image(_OF_MARIADB, modes), **binlog.image(_OF_MYSQL, modes)}
    return {**of_both, _VECTOR[0]: _VALUE}


PAGE = page.Page(
    "mysql",
    {**_COLUMNS, _VECTOR[0]: _VECTOR[1]},
    {**binlog.source(_COLUMNS), _VECTOR[0]: _VALUE},
    _image,
    binlog.MODES,
)
