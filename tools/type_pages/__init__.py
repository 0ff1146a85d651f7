"""The pages docs/types/<kind>.md: how the connector of each kind writes its types, and what they become."""

from collections.abc import Mapping

from tools.type_pages import db2, mariadb, mongodb, mysql, postgresql, sqlserver
from tools.type_pages.page import Page

PAGES: Mapping[str, Page] = {
    each.kind: each
    for each in (
        sqlserver.PAGE,
        postgresql.PAGE,
        mysql.PAGE,
        mariadb.PAGE,
        mongodb.PAGE,
        db2.PAGE,
    )
}
"""Kind -> what its page is made from."""
