"""The report page: what the last updates did, as one self-contained HTML file."""

from dlt_local.observability.report.runs import DatasetRun, ExpectationRun, Run
from dlt_local.observability.report.write import ReportWriter, last_shapes, write_report

__all__ = ["DatasetRun", "ExpectationRun", "ReportWriter", "Run", "last_shapes", "write_report"]
