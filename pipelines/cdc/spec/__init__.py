"""Specs: from the YAML of a conf folder to frozen TableSpecs, or to all of its faults at once."""
