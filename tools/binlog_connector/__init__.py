"""Records from Debezium's real MariaDB and MySQL connectors, over real servers.

README.md says which server and which version made which capture, and how to make them again.
"""
