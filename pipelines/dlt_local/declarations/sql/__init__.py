"""SQL source files: the statements of Databricks' pipeline SQL become the same declarations that Python files make."""

from dlt_local.declarations.sql.declare import run_file

__all__ = ["run_file"]
