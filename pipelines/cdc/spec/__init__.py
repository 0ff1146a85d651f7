"""Specs: the YAML of a conf folder becomes frozen TableSpecs, or all of its faults at once."""
