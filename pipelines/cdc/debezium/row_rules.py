"""Row rules: the computed columns of a change, and what the spec's filter and quarantine make of it.

An SQL text of a spec may fail for the values of one record (a division by zero, a text that is no number). Spark's
`try_` functions take one expression each and not the casts inside it, so a text is first evaluated inside one that
turns any error into null, and for its value only where that went well. The other records become rejects. (On a runtime
whose `try_to_binary` lets errors pass, the table stops with Spark's error instead; nothing is lost.)
"""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.rejects import Reason
from cdc.spec.model import TableSpec

_SOUND, _RULE = "_sound", "_rule"
FILTERED = "filtered"
"""The kind of an ignored change: an append-only table's filter leaves it out."""
_VERDICT = (names.OUTCOME, names.REASON, names.MESSAGE)
_FAILS = " fails for the values of the row; where null is right, use functions such as try_divide and try_cast"
Case = tuple[Column, Column]
"""A condition, and the verdict on a change for which it is true."""


def has_row_rules(table: TableSpec) -> bool:
    """Whether decoding has anything to do here."""
    return bool(table.computed or table.filter or table.expected("quarantine"))


def try_computed(table: TableSpec) -> list[Column]:
    """Every column, and whether each computed column has a value; nothing for a table without them."""
    if not table.computed:
        return []
    sound = (_is_sound(sql).alias(name) for name, sql in table.computed.items())
    return [F.col("*"), F.struct(*sound).alias(_SOUND)]


def compute(table: TableSpec) -> list[Column]:
    """Every column, and the computed ones; null in a change without a row, such as a delete."""
    if not table.computed:
        return []
    sound = F.col(_SOUND)
    values = {name: F.when(_has_row() & sound[name], F.expr(sql)) for name, sql in table.computed.items()}
    return [F.col("*"), *(value.alias(name) for name, value in values.items())]


def judge(table: TableSpec) -> list[Column]:
    """Every column, and the verdict of the rules on a change that carries a row; null if they leave it as it is."""
    if not has_row_rules(table):
        return []
    # The first case that applies decides. A computed column comes first, since the others may name it; a change
    # outside the filter removes its row, whatever other values the row has.
    cases = (*_of_computed(table), *_of_filter(table), *_of_quarantine(table))
    is_change = (F.col(names.OUTCOME) == names.CHANGE) & _has_row()
    rule = F.coalesce(*(F.when(is_change & applies, verdict) for applies, verdict in cases))
    return [F.col("*"), rule.alias(_RULE)]


def conclude(table: TableSpec, columns: tuple[str, ...]) -> list[Column]:
    """The given columns, then outcome, reason, message, of rejects the record's key and value, and the drift."""
    if not has_row_rules(table):
        return []
    rule = F.col(_RULE)
    outcome = {name: F.when(rule.isNull(), F.col(name)).otherwise(rule[name]) for name in _VERDICT}
    is_reject = outcome[names.OUTCOME] == names.REJECT
    return [
        *(F.col(f"`{name}`") for name in columns),
        *(value.alias(name) for name, value in outcome.items()),
        *(F.when(is_reject, F.col(name)).alias(name) for name in (names.KEY, names.VALUE)),
        F.col(names.DRIFT),
    ]


def _has_row() -> Column:
    return F.col(names.OP).isin(*names.WITH_ROW)


def _of_computed(table: TableSpec) -> Iterator[Case]:
    for name, sql in table.computed.items():
        yield ~F.col(_SOUND)[name], _reject(Reason.FAILED_SQL, f"computed column {name}: `{sql}`{_FAILS}")


def _of_filter(table: TableSpec) -> Iterator[Case]:
    if table.filter:
        yield ~_is_sound(table.filter), _reject(Reason.FAILED_SQL, f"filter: `{table.filter}`{_FAILS}")
        if table.append_only:
            # With a key the change is kept, and AUTO CDC removes the row by it.
            yield ~_passes(table), _verdict(names.IGNORED, FILTERED, None)


def _of_quarantine(table: TableSpec) -> Iterator[Case]:
    for name, sql in table.expected("quarantine").items():
        message = f"expectation {name}: `{sql}` is not met"
        yield _passes(table) & ~_is_true(sql), _reject(Reason.QUARANTINED, message)


def _passes(table: TableSpec) -> Column:
    """True for a change that meets the filter, if there is one."""
    return _is_true(table.filter) if table.filter else F.lit(True)


def _is_true(sql: str) -> Column:
    """False if the condition is false, null, or fails."""
    return F.coalesce(F.when(_is_sound(sql), F.expr(sql)), F.lit(False))


def _is_sound(sql: str) -> Column:
    """False if the expression fails: any error inside `try_to_binary` makes it null."""
    return F.try_to_binary(F.xxhash64(F.expr(sql)).cast("string"), F.lit("utf-8")).isNotNull()


def _reject(reason: Reason, message: str) -> Column:
    return _verdict(names.REJECT, reason.name, message)


def _verdict(outcome: str, reason: str, message: str | None) -> Column:
    fields = zip(_VERDICT, (outcome, reason, message), strict=True)
    return F.struct(*(F.lit(text).cast("string").alias(name) for name, text in fields))
