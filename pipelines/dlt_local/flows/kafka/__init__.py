"""Kafka as a source of flows: what a topic no longer has is found before a batch is written; errors in plain words."""
