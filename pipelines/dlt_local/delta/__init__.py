"""Delta tables and the storage folder: their layout on disk, and what their files state without a Spark job."""
