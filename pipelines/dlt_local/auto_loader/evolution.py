"""Schema evolution: the error that stops a flow at columns which its schema does not have."""

from dlt_local.errors import FlowError

CONDITION = "UNKNOWN_FIELD_EXCEPTION"


class SchemaEvolved(FlowError):
    """Files have new columns, which are recorded: the flow reads them if its pipeline is updated again."""

    def __init__(self, dataset: str, columns: str) -> None:
        message = f"the files have columns that were not in the schema: {columns}; they are in it now"
        super().__init__(CONDITION, dataset, message, "run the pipeline again", is_permanent=True)


def refused(dataset: str, columns: str) -> FlowError:
    """The error of a flow with `cloudFiles.schemaEvolutionMode=failOnNewColumns`."""
    message = f"the files have columns that are not in the schema: {columns}; nothing of the batch was written"
    fix = (
        "add them to the schema (cloudFiles.schemaHints, or schema(...)), take the file out of the folder, or choose"
        " another cloudFiles.schemaEvolutionMode: addNewColumns or rescue"
    )
    return FlowError(CONDITION, dataset, message, fix, is_permanent=True)
