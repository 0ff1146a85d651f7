"""A local Delta Live Tables runtime on open-source Spark + Delta Lake.

Runs any Delta Live Tables Python source unchanged: `import dlt` and `from pyspark import pipelines as dp` work while
its files load, published datasets are plain Delta tables under the storage folder.
"""

from dlt_local.errors import DeclarationError, FlowError, LocalPipelineError
from dlt_local.pipeline import LocalPipeline
from dlt_local.session import create_session
from dlt_local.update import Update, UpdateFailed

__all__ = [
    "DeclarationError",
    "FlowError",
    "LocalPipeline",
    "LocalPipelineError",
    "Update",
    "UpdateFailed",
    "create_session",
]
