"""Auto Loader on local folders: `cloudFiles` and `read_files` over Spark's file source."""
