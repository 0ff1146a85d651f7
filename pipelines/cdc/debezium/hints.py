"""Hints in the message of a reject: the setting of the connector spec that its value suggests to change."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.spec.kinds import kind_of
from cdc.spec.model import ConnectorSpec

_UNION = r'`\{"(string|long|int)":'
_NUMBER = r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"
_BASE64 = "^[A-Za-z0-9+/]+={0,2}$"
_DECIMAL = "^ is not of type (decimal|numeric|money|smallmoney)"


def of_position(fault: Column, connector: ConnectorSpec) -> Column:
    """The fault of a position, with a hint if its value is nested under its type, as Avro's JSON encoding does.

    >>> evaluate(of_position(F.lit('source.lsn is `{"string":"25:1:1"}`'), orders.connector))
    'source.lsn is `{"string":"25:1:1"}`; write `shape: avro_json` in the connector spec'
    """
    if connector.shape == "avro_json":
        return fault
    hint = F.when(fault.rlike(_UNION), "; write `shape: avro_json` in the connector spec")
    return F.concat(fault, F.coalesce(hint, F.lit("")))


def of_missing_op(connector: ConnectorSpec) -> str:
    """What to add to the message about a value without ``op``; empty if every shape is tried."""
    if "flattened" not in kind_of(connector).shapes:
        return "; flattened records have lost the types of their values: let the connector write envelopes"
    if connector.shape == "auto":
        return ""
    return f"; the connector spec has `shape: {connector.shape}`, and `shape: auto` reads every shape but `avro_json`"


def of_type(what: Column, text: Column, connector: ConnectorSpec) -> Column:
    """A hint at the end of the message about a decimal that the converter wrote in another form; else empty.

    >>> evaluate(of_type(F.lit(" is not of type int"), F.lit("12.5"), orders.connector))
    ''

    Args:
        what: `` is not of type decimal(18,2)``.
        text: the value as written.
        connector: says in which form decimals should be.
    """
    fits, mode = what.rlike(_DECIMAL), connector.decimal_handling_mode
    if mode == "precise" and connector.decimal_format == "base64":
        hint = (
            "; in the connector spec write `decimal_format: numeric` if the converter writes numbers, or"
            " `decimal_handling_mode: string` if the connector writes text"
        )
        return F.when(fits & text.rlike(_NUMBER), hint).otherwise("")
    setting = "decimal_format: base64" if mode == "precise" else "decimal_handling_mode: precise"
    hint = f"; if the converter writes base64, write `{setting}` in the connector spec"
    return F.when(fits & text.rlike(_BASE64) & ~text.rlike(_NUMBER), hint).otherwise("")
