"""MongoDB's row images: `after` is the whole document as a text, or an update says what it changed.

The columns of a table are paths in the document. A record key has one field, `id`, with the document's `_id`.
"""

from collections.abc import Iterator, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from cdc.debezium import json_texts
from cdc.debezium.documents import extended_json, paths, updates
from cdc.debezium.documents.extended_json import either
from cdc.debezium.documents.updates import Update
from cdc.debezium.images.image import Get, Images
from cdc.debezium.json_texts import TEXT, texts_of
from cdc.debezium.parts import key_fields
from cdc.debezium.rejects import Reason
from cdc.spec.kinds import kind_of
from cdc.spec.model import ColumnSpec, TableSpec

_AFTER, _PATCH, _UPDATE = "after", "patch", "updateDescription"
_SET, _REMOVED, _TRUNCATED, _ARRAY = "updatedFields", "removedFields", "truncatedArrays", "field"
_ID, _KEY_FIELD = "_id", "id"
_PARTIAL = "_partial"
"""Frame column: true if the record says only what an update changed."""
_OPERATORS = r'^\s*\{\s*"\$'
"""A patch of operators; one without them is the document that replaces another."""
_KNOWN_OPERATORS = ("$v", "$set", "$unset")


class DocumentImages(Images):
    """The images of MongoDB's connectors, of 1.x (the oplog) and later (change streams)."""

    key_leads = True
    missing_row = (
        "`after` is null or no JSON object; an update without the document is read with `capture_mode: change_streams`"
        " (connectors of 1.x: oplog) in the connector spec"
    )

    def fields(self, table: TableSpec) -> Mapping[str, DataType]:
        """Documents as texts, and the description of an update."""
        description = texts_of((_SET,))
        description.add(_REMOVED, ArrayType(TEXT)).add(_TRUNCATED, ArrayType(texts_of((_ARRAY,))))
        return {_AFTER: TEXT, _PATCH: TEXT, _UPDATE: description}

    def before(self, get: Get, table: TableSpec) -> Column:
        """Nothing: a document is identified by its record key alone, which has `_id` in one and the same form."""
        return F.struct(*(F.lit(None).cast("string").alias(name) for name in key_fields(table)))

    def row(self, get: Get, table: TableSpec) -> Column:
        """The columns that the document has, or that the update changes, and the other fields at its top."""
        whole = _whole_document(get)
        of_update = _of_update(get, table) if _may_be_partial(table) else F.lit(None).cast("map<string,string>")
        return either(whole.isNotNull(), _of_document(whole, table), of_update)

    def key_texts(self, key: Column, names: tuple[str, ...]) -> Column:
        """The columns at and below `_id`, from the record key."""
        text = json_texts.key_texts(key, (_KEY_FIELD,)).getField(_KEY_FIELD)
        document = extended_json.marked(F.concat(F.lit(f'{{"{_ID}":'), text, F.lit("}")))
        tree = paths.tree(name for name in names if _is_of_key(name))
        found = paths.as_map((paths.entries(extended_json.fields(document), tree),))
        return F.struct(*(found[name].alias(name) for name in names))

    def extras(self, get: Get, table: TableSpec) -> Mapping[str, Column]:
        """Whether the record says only what changed."""
        if not _may_be_partial(table):
            return {}
        return {_PARTIAL: _whole_document(get).isNull() & _partial_text(get).isNotNull()}

    def is_left_out(self, column: ColumnSpec, table: TableSpec) -> Column | None:
        """True if the update does not name the column."""
        if not _may_be_partial(table) or _is_of_key(column.name):
            return None
        row = F.col(self.row_column)
        return F.coalesce(F.col(_PARTIAL) & ~F.map_contains_key(row, column.name), F.lit(False))

    def untold(self, column: ColumnSpec, text: Column, table: TableSpec) -> Iterator[tuple[Column, Reason, str]]:
        """A value that the document has in another form, or of which the update tells a part."""
        if _may_be_partial(table):
            what = (
                " of it has changed, and the record does not tell the rest; capture whole documents:"
                " `capture.mode=change_streams_update_full`"
            )
            yield F.startswith(text, F.lit(updates.PART_CHANGED)), Reason.PARTIAL_VALUE, what
        if "." in column.name:
            what = " is on the way to it; make that a column of type json instead"
            yield F.startswith(text, F.lit(paths.NO_OBJECT)), Reason.WRONG_TYPE, what


def _may_be_partial(table: TableSpec) -> bool:
    return table.connector.capture_mode in kind_of(table.connector).partial_modes


def _whole_document(get: Get) -> Column:
    """The text of the document after the change; null if the record lacks it."""
    patch = get(_PATCH)
    replacement = F.when(~patch.rlike(_OPERATORS), patch)
    return F.coalesce(get(_AFTER), replacement)


def _partial_text(get: Get) -> Column:
    description = get(_UPDATE)
    has_some = F.coalesce(
        description.getField(_SET), description.getField(_REMOVED)[0], description.getField(_TRUNCATED)[0][_ARRAY]
    )
    return F.coalesce(has_some, get(_PATCH))


def _of_document(whole: Column, table: TableSpec) -> Column:
    """The row of a whole document; null if the text is not a JSON object."""
    columns, top = _columns(table), _top(table)
    tree = paths.tree(name for name in columns if name != paths.WHOLE)

    def row(document: Column) -> Column:
        parts = [paths.entries(document, tree)]
        if paths.WHOLE in columns:
            parts.append(F.array(paths.entry(paths.WHOLE, extended_json.finite(whole))))
        else:
            parts.append(paths.others(document, top, columns))
        return either(document.isNotNull(), paths.as_map(parts))

    return extended_json.bound(extended_json.fields(extended_json.marked(whole)), row)


def _of_update(get: Get, table: TableSpec) -> Column:
    """The row of a partial update; null if the record has none."""
    columns = tuple(name for name in _columns(table) if not _is_of_key(name))

    def row(update: Update) -> Column:
        others = [] if paths.WHOLE in columns else [updates.others(update, _top(table), columns)]
        return paths.as_map((updates.entries(update, columns), *others))

    patch, text = get(_PATCH), get(_UPDATE).getField(_SET)
    operators, updated = (extended_json.fields(extended_json.marked(each)) for each in (patch, text))
    of_patch = extended_json.bound(operators, lambda bound: _patch(bound).bound(row))
    of_description = extended_json.bound(updated, lambda bound: _description(get, bound).bound(row))
    return either(patch.isNotNull(), of_patch, either(_partial_text(get).isNotNull(), of_description))


def _patch(operators: Column) -> Update:
    """The update of the oplog's operators, from the fields of a patch; they are null if it is no JSON object."""
    no_fields, no_paths = F.create_map().cast("map<string,string>"), F.array().cast("array<string>")
    set_, unset = (
        F.coalesce(extended_json.inner_fields(operators[extended_json.key_of(name)]), no_fields)
        for name in ("$set", "$unset")
    )
    known = F.array(*map(F.lit, map(extended_json.key_of, _KNOWN_OPERATORS)))
    unknown = F.get(F.array_except(F.map_keys(operators), known), F.lit(0))
    return Update(
        updated=set_,
        removed=F.transform(F.map_keys(unset), extended_json.name_of),
        truncated=no_paths,
        unreadable=F.when(operators.isNull(), "no JSON").otherwise(unknown),
    )


def _description(get: Get, updated: Column) -> Update:
    """The update of a change stream, from the fields that it set; they are null if the text is no JSON object."""
    description, no_paths = get(_UPDATE), F.array().cast("array<string>")
    is_broken = description.getField(_SET).isNotNull() & updated.isNull()
    truncated = F.transform(description.getField(_TRUNCATED), lambda each: each[_ARRAY])
    return Update(
        updated=F.coalesce(updated, F.create_map().cast("map<string,string>")),
        removed=F.coalesce(description.getField(_REMOVED), no_paths),
        truncated=F.coalesce(truncated, no_paths),
        unreadable=F.when(is_broken, "no JSON"),
    )


def _columns(table: TableSpec) -> tuple[str, ...]:
    """The paths of the columns, those that only the key has included."""
    return tuple(column.name for column in table.columns if not column.key_only and column.constant is None)


def _top(table: TableSpec) -> tuple[str, ...]:
    """The fields at the top of the document that are, or lead to, columns, or are excluded; `_id` is never unknown."""
    paths_of_all = (_ID, *_columns(table), *table.excluded)
    return tuple(dict.fromkeys(name.split(".")[0] for name in paths_of_all))


def _is_of_key(path: str) -> bool:
    return path == _ID or path.startswith(f"{_ID}.")
