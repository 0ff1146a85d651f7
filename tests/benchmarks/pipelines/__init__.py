"""Pipelines that are measured: source files for the engine."""
