"""Source files of the measured pipelines."""
