"""The report page: what the last updates did, as one HTML file that needs nothing else."""

from dlt_local.observability.report.collect import run_of
from dlt_local.observability.report.runs import DatasetRun, ExpectationRun, Run
from dlt_local.observability.report.write import write_report

__all__ = ["DatasetRun", "ExpectationRun", "Run", "run_of", "write_report"]
