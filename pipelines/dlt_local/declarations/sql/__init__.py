"""SQL source files: Databricks' pipeline SQL becomes the same declarations that Python files make."""

from dlt_local.declarations.sql.run import run_file

__all__ = ["run_file"]
