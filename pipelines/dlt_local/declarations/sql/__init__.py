"""SQL source files: Databricks' pipeline SQL becomes the same declarations that Python files make."""
