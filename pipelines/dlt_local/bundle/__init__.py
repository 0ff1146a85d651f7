"""Reads a Databricks bundle on this machine: the settings of one of its pipelines, for one target.

Nothing is written and no workspace is contacted. `databricks.yml`, the files it includes, targets, variables and
references mean what they mean to Databricks' own command line.
"""

from dlt_local.bundle.errors import BundleError
from dlt_local.bundle.load import read_bundle
from dlt_local.bundle.model import Bundle, BundlePipeline
from dlt_local.bundle.pipeline import bundle_pipeline

__all__ = ["Bundle", "BundleError", "BundlePipeline", "bundle_pipeline", "read_bundle"]
