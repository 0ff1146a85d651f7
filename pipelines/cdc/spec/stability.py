"""SQL that decides about rows must follow from the change alone: no clock, no chance, no other rows."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.expectations import actions, conditions
from cdc.spec.reading import Fault, Reading

_WORD = re.compile(
    r"""[rR](?:'[^']*'|"[^"]*")            # raw strings: a backslash is one
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"  # strings
    | `(?:[^`]|``)*` | --[^\n]* | /\*.*?\*/  # quoted names, comments
    | (?P<word>[A-Za-z_]\w*)(?P<call>\s*\()?""",
    re.VERBOSE | re.DOTALL,
)
_CLOCK_OR_CHANCE = frozenset(
    "curdate current_catalog current_database current_date current_schema current_time current_timestamp"
    " current_timezone current_user getdate input_file_block_length input_file_block_start input_file_name"
    " localtimestamp monotonically_increasing_id now rand randn random randstr session_user shuffle"
    " spark_partition_id try_reflect reflect java_method uniform user uuid".split()
)
_BARE = frozenset(
    "current_catalog current_database current_date current_schema current_time current_timestamp current_user"
    " localtimestamp session_user user".split()
)
"""Those that SQL also calls without parentheses."""
_OTHER_ROWS = frozenset(
    "any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and bool_or"
    " collect_list collect_set corr count count_if covar_pop covar_samp cume_dist dense_rank first first_value"
    " group_concat histogram_numeric kurtosis lag last last_value lead listagg max max_by mean median min min_by mode"
    " ntile nth_value over percent_rank percentile percentile_approx percentile_cont percentile_disc rank row_number"
    " skewness std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance".split()
)
_SEVERAL_ROWS = frozenset(
    "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode".split()
)


def check_stability(reading: Reading, fields: Mapping[str, Any], columns: Collection[str]) -> None:
    """Report filters, computed columns and expectations with an action whose value the change does not decide.

    Args:
        reading: the table's file.
        fields: the file's fields over those of defaults.yml.
        columns: target names in lower case: a column may be called as a function is.
    """
    for what, path, text in _texts(fields):
        for word, why in _unstable(text, columns):
            detail = f"{what} has `{word}`, which {why}; a redelivery or a rebuild must give the same value"
            fix = "use only what the change itself has: its columns and functions of them."
            reading.report(Fault(Condition.UNSTABLE_SQL, path, detail, fix, value=text))
            break


def _texts(fields: Mapping[str, Any]) -> Iterator[tuple[str, ValuePath, str]]:
    if "filter" in fields:
        yield "the filter", ("filter",), fields["filter"]
    for name, text in fields.get("computed", {}).items():
        yield f"the computed column `{name}`", ("computed", name), text
    sql = conditions(fields)
    for name in actions(fields):
        yield f"the expectation `{name}`", ("expectations", name, "condition"), sql[name]


def _unstable(text: str, columns: Collection[str]) -> Iterator[tuple[str, str]]:
    """The words that make a text unstable, each with the reason.

    >>> list(_unstable("total - max(total) over ()", set()))[0]
    ('max', 'reads other rows')
    >>> list(_unstable("concat('rand()', `now`, user)", {"user"}))
    []
    """
    for found in _WORD.finditer(text):
        word, is_call = (found["word"] or "").casefold(), found["call"] is not None
        if word in (_CLOCK_OR_CHANCE if is_call else _BARE.difference(columns)) or _reads_clock(text, found):
            yield found["word"], "is not decided by the row"
        elif (is_call and word in _OTHER_ROWS) or (word == "select" and word not in columns):
            yield found["word"], "reads other rows"
        elif is_call and word in _SEVERAL_ROWS:
            yield found["word"], "makes several rows of one"


def _reads_clock(text: str, found: re.Match[str]) -> bool:
    """True for ``unix_timestamp()``, which is the time now only without arguments."""
    is_it = (found["word"] or "").casefold() in ("unix_timestamp", "to_unix_timestamp") and found["call"]
    return bool(is_it) and text[found.end() :].lstrip().startswith(")")
