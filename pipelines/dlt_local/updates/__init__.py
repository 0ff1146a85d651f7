"""Updates: a pipeline, one update of it, and the order in which its datasets run."""
