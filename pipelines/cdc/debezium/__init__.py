"""Debezium's records, decoded: envelope, values by type family, positions by connector kind, rejects."""
