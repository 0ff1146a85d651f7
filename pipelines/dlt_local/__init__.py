"""A local Delta Live Tables runtime on open-source Spark and Delta Lake.

It runs Delta Live Tables source files unchanged: `import dlt` and `from pyspark import pipelines as dp` work while they
load. Published datasets are plain Delta tables in the storage folder.
"""

from dlt_local.errors import DeclarationError, FlowError, LocalPipelineError
from dlt_local.flows.outcomes import Update, UpdateFailed
from dlt_local.spark.session import create_session
from dlt_local.updates.pipeline import LocalPipeline

__all__ = [
    "DeclarationError",
    "FlowError",
    "LocalPipeline",
    "LocalPipelineError",
    "Update",
    "UpdateFailed",
    "create_session",
]
