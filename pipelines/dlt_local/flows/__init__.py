"""Flows: one module per kind of write, and what all of them share."""
