"""Beside other tools: table specs to and from their files, and functions that their pipelines call."""
