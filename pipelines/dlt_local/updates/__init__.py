"""Updates: what a pipeline is, one update of it, and the order in which its datasets run."""
