"""Flows: one class per kind of write, and what all of them share."""
