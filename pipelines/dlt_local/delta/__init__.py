"""Delta tables and the storage folder, seen without a Spark job where the files themselves say it."""
