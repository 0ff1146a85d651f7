"""Entry point of `python -m dlt_local`."""

from dlt_local.cli.main import main

main(prog_name="python -m dlt_local")
