"""The command line: `python -m dlt_local`."""
