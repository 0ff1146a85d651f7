"""Reads a Databricks bundle on this machine: the settings of one of its pipelines, for one target.

A project of open-source Spark's pipelines, which has one pipeline and no targets, is read into the same settings.

Nothing is written and no workspace is contacted. `databricks.yml`, the files it includes, targets, variables and
references mean what they mean to Databricks' own command line.
"""

from dlt_local.bundle.errors import BundleError
from dlt_local.bundle.load import read_bundle
from dlt_local.bundle.model import Bundle, BundlePipeline
from dlt_local.bundle.pipeline import bundle_pipeline
from dlt_local.bundle.spark_project import read_spark_project

__all__ = ["Bundle", "BundleError", "BundlePipeline", "bundle_pipeline", "read_bundle", "read_spark_project"]
