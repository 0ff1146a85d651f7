"""Debezium's real MongoDB connectors on a scripted replica set; README.md explains it."""

from tools.mongodb_connector.documents import Document, Update, changed_document, described
from tools.mongodb_connector.primary import Change, Primary, primary

__all__ = ["Change", "Document", "Primary", "Update", "changed_document", "described", "primary"]
