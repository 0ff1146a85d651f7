"""What a partial update says of each column: its new value, that it is gone, nothing, or that only a part changed.

A change stream describes an update by the paths of the fields that it set (``{"address.city": "Turin", "tags.0": 5}``),
of those that it removed, and of arrays that it shortened; the oplog of MongoDB before 5.0 by ``$set`` and ``$unset``.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import accumulate

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.documents import extended_json, paths
from cdc.debezium.documents.extended_json import either, key_of, name_of, plain

PART_CHANGED = "!part: "
"""Start of the note in place of a value of which only a part has changed; the path of the part follows."""


@dataclass(frozen=True)
class Update:
    """A partial update, as columns."""

    updated: Column
    """Map of the paths that were set, with their values, in the form of `extended_json.fields`."""
    removed: Column
    """Array of the paths that were removed."""
    truncated: Column
    """Array of the paths of arrays that were shortened."""
    unreadable: Column
    """What else the update does, of which no path is known; null for nothing."""

    @property
    def changed(self) -> Column:
        """Array of all paths that the update names."""
        return F.concat(F.transform(F.map_keys(self.updated), name_of), self.removed, self.truncated)

    def bound(self, use: Callable[["Update"], Column]) -> Column:
        """What a function makes of the update, whose parts are computed once."""
        names = [part.name for part in fields(self)]
        parts = F.struct(*(getattr(self, name).alias(name) for name in names))
        return extended_json.bound(parts, lambda bound: use(Update(*(bound[name] for name in names))))


def entries(update: Update, columns: Iterable[str]) -> Column:
    """The columns that the update changes, as an array of name and text; null for one that it removes.

    >>> from cdc.debezium.documents.extended_json import fields, marked
    >>> nothing = F.array().cast("array<string>")
    >>> set = fields(marked(F.lit('{"name": "Ada", "address.city": "Turin", "tags.0": 5}')))
    >>> update = Update(set, F.array(F.lit("age")), nothing, F.lit(None).cast("string"))
    >>> for name, text in evaluate(entries(update, ["name", "age", "address.city", "address", "tags", "size"])):
    ...     print(name, text)
    name "Ada"
    age None
    address.city "Turin"
    address !part: address.city
    tags !part: tags.0
    """
    every = list(columns)

    def of_changed(changed: Column) -> Column:
        return F.concat(*(_of_column(update, changed, path) for path in every))

    return extended_json.bound(update.changed, of_changed) if every else paths.none()


def others(update: Update, known: Iterable[str], columns: Iterable[str]) -> Column:
    """The paths that were set and lead to no column, as an array of name and text."""
    names, taken = (F.array(*map(F.lit, each)).cast("array<string>") for each in (known, columns))

    def is_other(key: Column) -> Column:
        name = name_of(key)
        first = F.substring_index(name, ".", 1)
        return ~F.array_contains(names, first) & ~F.array_contains(taken, name)

    keys = F.filter(F.array_distinct(F.map_keys(update.updated)), is_other)
    return F.transform(
        keys, lambda key: F.struct(name_of(key).alias("name"), plain(F.element_at(update.updated, key)).alias("text"))
    )


def _of_column(update: Update, changed: Column, path: str) -> Column:
    """The entry of one column, in an array; an empty array if the update leaves it as it is."""
    if path == paths.WHOLE:
        first = F.coalesce(update.unreadable, F.get(changed, F.lit(0)), F.lit("no field"))
        return F.array(_note(path, first))
    found = []
    for above in _prefixes(path):
        key = key_of(above)
        text = F.element_at(update.updated, key)
        if _may_be_in_list(above):
            value = _part(F.lit(above))
        else:
            value = plain(text) if above == path else _inside(text, above, path)
        found.append(either(F.map_contains_key(update.updated, key), F.array(paths.entry(path, value))))
    is_removed = F.arrays_overlap(update.removed, F.array(*map(F.lit, _prefixes(path))))
    removed = either(is_removed, F.array(paths.entry(path, F.lit(None))))
    whole = F.coalesce(*found, removed, paths.none())

    def of_part(part: Column) -> Column:
        return either(part.isNotNull(), F.array(_note(path, part)), whole)

    return extended_json.bound(_part_of(update, changed, path), of_part)


def _inside(text: Column, above: str, path: str) -> Column:
    """The value at a path below one that was set; null if it is not there."""
    rest = path.removeprefix(f"{above}.")
    found = paths.values(above, text, paths.tree([rest]))
    return F.get(found, F.lit(0)).getField("text")


def _part_of(update: Update, changed: Column, path: str) -> Column:
    """The path of a change inside the column's value, or of an array on the way to it; null if there is none."""
    below = F.lit(f"{path}.")
    inside = F.filter(changed, lambda each: F.startswith(each, below))
    on_the_way = F.filter(update.truncated, lambda each: F.startswith(below, F.concat(each, F.lit("."))))
    return F.coalesce(update.unreadable, F.get(inside, F.lit(0)), F.get(on_the_way, F.lit(0)))


def _prefixes(path: str) -> Iterator[str]:
    """The path and those above it.

    >>> list(_prefixes("a.b.c"))
    ['a', 'a.b', 'a.b.c']
    """
    return accumulate(path.split("."), lambda above, name: f"{above}.{name}")


def _note(path: str, part: Column) -> Column:
    return paths.entry(path, _part(part))


def _part(part: Column) -> Column:
    return F.concat(F.lit(PART_CHANGED), part)


def _may_be_in_list(path: str) -> bool:
    """True for a path through a name of digits: a field's name in an object, in a list a position.

    >>> _may_be_in_list("tags.0"), _may_be_in_list("0.tags")
    (True, False)
    """
    return any(name.isdigit() for name in path.split(".")[1:])
