"""MariaDB's types."""

from tools.type_pages import binlog, page

_CAPTURE = binlog.capture_of("mariadb", "3.5.0.Final")
_COLUMNS = binlog.type_columns("mariadb", "mariadb")

PAGE = page.Page(
    "mariadb", _COLUMNS, binlog.source(_COLUMNS), lambda modes: binlog.image(_CAPTURE, modes), binlog.MODES
)
