"""SQL texts that YAML split at a comma: `{rate: try_divide(tax, total)}` without quotation marks."""

from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.reading import Fault, Reading
from cdc.spec.schema_faults import remove


def repair_split_sql(reading: Reading) -> None:
    """Report such texts of computed columns and expectations, and join their parts."""
    for field in ("computed", "expectations"):
        texts = reading.data.get(field)
        if isinstance(texts, dict):
            _join(reading, texts, (field,))
            for name, settings in texts.items():
                if isinstance(settings, dict):
                    _join(reading, settings, (field, name))


def _join(reading: Reading, values: dict[str, Any], path: ValuePath) -> None:
    names = list(values)
    for index, name in enumerate(names):
        whole = values.get(name)
        parts: list[str] = []
        for rest in names[index + 1 :]:
            # A part is a key without a value, while a parenthesis is open.
            if not isinstance(whole, str) or whole.count("(") <= whole.count(")") or values.get(rest, "") is not None:
                break
            whole, parts = f"{whole}, {rest}", [*parts, rest]
        if parts:
            first = values[name]
            detail = f"YAML reads `{name}: {whole}` inside braces as `{name}: {first}` and another key `{parts[0]}`"
            fix = f'quote the SQL: `{name}: "{whole}"`.'
            reading.report(Fault(Condition.UNQUOTED_COMMA, (*path, name), detail, fix, value=whole))
            values[name] = whole
            for part in parts:
                remove(values, (part,))
