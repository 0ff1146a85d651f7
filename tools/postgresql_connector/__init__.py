"""Records from Debezium's real PostgreSQL connector and Debian's PostgreSQL server; README.md explains it."""
