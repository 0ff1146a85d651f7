"""Rows of CSV files: each file's values go to the columns that its own header names.

Spark's reader gives the values of each line by position, as strings, and drops the header of each file. Which position
is which column is known for the files that were there when the query was evaluated; a file that arrived since stops the
flow, which then starts again. Columns that are not strings are parsed by Spark's CSV parser, all of a line at once.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from dlt_local.auto_loader import listing, rescue
from dlt_local.auto_loader.inference import has_header
from dlt_local.auto_loader.listing import FileGroup
from dlt_local.auto_loader.rows import ARRIVED_MEANWHILE, Read, one_of, partitions

_LINE, _GROUP, _TEXTS, _TYPED, _FILE = "__line", "__group", "__texts", "__typed", "__file"
_OF_TYPES = {
    *("dateformat", "timestampformat", "timestampntzformat", "timezone", "locale", "preferdate"),
    *("nanvalue", "positiveinf", "negativeinf"),
}
_OF_LINES = {
    *("sep", "delimiter", "quote", "escape", "chartoescapequoteescaping", "unescapedquotehandling", "maxcolumns"),
    *("maxcharspercolumn", "nullvalue", "emptyvalue", "ignoreleadingwhitespace", "ignoretrailingwhitespace"),
}


def source_options(read: Read) -> dict[str, str]:
    """The options of the reader of the source."""
    header = str(has_header(read.options, read.is_inferred)).lower()
    own = {"header": header, "enforceSchema": "true", "columnNameOfCorruptRecord": _LINE}
    return listing.csv_options(read.options) | own


def source_schema(read: Read) -> StructType:
    """The columns of the source: the values by position, and the line where it has more or fewer of them."""
    names = [*map(_position, range(_width(_groups(read)))), _LINE]
    return StructType([StructField(name, StringType()) for name in names])


def rows(lines: DataFrame, read: Read) -> DataFrame:
    """The rows of a frame of lines.

    Args:
        lines: the columns of `source_schema`.
        read: the columns, and what becomes of others.
    """
    groups, known = _groups(read), {field.name: field for field in read.schema.data.fields}
    names = list(dict.fromkeys((*known, *(name for group in groups for name in group.columns))))
    # Two names may differ in case only, which the fields of a struct must not.
    texts = {name: f"v{index}" for index, name in enumerate(names)}
    typed = StructType([field for field in known.values() if not isinstance(field.dataType, StringType)])
    grouped = lines.select("*", _group(read, groups).alias(_GROUP), rescue.file_path().alias(_FILE))
    texted = grouped.select("*", F.struct(*(_text(n, groups).alias(texts[n]) for n in names)).alias(_TEXTS))
    if typed.fields:
        texted = texted.select("*", _parsed(typed, texts, read).alias(_TYPED))
    columns = [
        (F.col(_TEXTS)[texts[name]] if isinstance(field.dataType, StringType) else F.col(_TYPED)[name]).alias(name)
        for name, field in known.items()
    ]
    rescued = []
    if read.rescued is not None:
        members = [
            *(rescue.member(name, _json(F.col(_TEXTS)[texts[name]])) for name in names if name not in known),
            *(_mismatch(field.name, F.col(_TEXTS)[texts[field.name]]) for field in typed.fields),
            _too_long(groups, read),
        ]
        rescued = [rescue.rescued([F.array(*members)], F.col(_FILE)).alias(read.rescued)]
    return texted.select(*columns, *partitions(read), *rescued)


def unknown_columns(read: Read) -> list[str]:
    """The columns of the files that are not in the schema."""
    found = dict.fromkeys(name for group in read.groups for name in group.columns)
    return [name for name in found if name.lower() not in read.known_names]


def _groups(read: Read) -> tuple[FileGroup, ...]:
    """The files by their columns; without headers, and while a query is only analysed, all have the schema's."""
    if read.is_running and has_header(read.options, read.is_inferred):
        # Without any file there is still a plan, which a file that arrives late gives an error.
        return read.groups or (FileGroup(tuple(read.schema.data.names), ()),)
    return (FileGroup(tuple(read.schema.data.names), ()),)


def _group(read: Read, groups: tuple[FileGroup, ...]) -> Column:
    """The number of the group of a row's file, on which all of its values depend; an error for any other file."""
    if not (read.is_running and has_header(read.options, read.is_inferred)):
        return F.lit(0)
    path = rescue.local_path()
    number = F.when(F.lit(False), F.lit(0))
    for index, group in enumerate(groups):
        number = number.when(one_of(path, group.files), F.lit(index))
    late = F.concat(F.lit(f"{ARRIVED_MEANWHILE} {read.key} "), rescue.file_path())
    return number.otherwise(F.raise_error(late).cast("int"))


def _position(index: int) -> str:
    return f"_c{index}"


def _text(name: str, groups: tuple[FileGroup, ...]) -> Column:
    """The text of a column in each group of files; null where the files do not have it."""
    places: Mapping[int, int] = {
        number: group.columns.index(name) for number, group in enumerate(groups) if name in group.columns
    }
    text = F.when(F.lit(False), F.lit(None).cast("string"))
    for number, index in places.items():
        text = text.when(F.col(_GROUP) == number, F.col(_position(index)))
    return text


def _parsed(typed: StructType, texts: Mapping[str, str], read: Read) -> Column:
    """The typed columns, parsed from a line in which each text is in quotes."""
    columns = [F.col(_TEXTS)[texts[field.name]] for field in typed.fields]
    quoted = [F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"')) for text in columns]
    line = F.concat_ws(",", *(F.coalesce(text, F.lit("")) for text in quoted))
    given = {name: value for name, value in read.options.reader.items() if name.lower() in _OF_TYPES}
    return F.from_csv(line, _ddl(typed), given | {"sep": ",", "quote": '"', "escape": '"', "emptyValue": ""})


def _mismatch(name: str, text: Column) -> Column:
    return F.when(F.col(_TYPED)[name].isNull(), rescue.member(name, _json(text)))


def _json(text: Column) -> Column:
    return F.when(text.isNotNull(), rescue.quoted(text))


def _too_long(groups: tuple[FileGroup, ...], read: Read) -> Column:
    """The whole line as a member, if it has more values than its file has columns."""
    width = _width(groups)
    # Spark gives the line where it has more or fewer values than expected: few lines are parsed once more.
    positions = [StructField(_position(index), StringType()) for index in range(width + 1)]
    options = {n: v for n, v in source_options(read).items() if n.lower() in _OF_LINES}
    beyond = F.from_csv(F.col(_LINE), _ddl(StructType(positions)), options)[_position(width)].isNotNull()
    extra = F.coalesce(beyond, F.lit(False))
    for number, group in enumerate(groups):
        for index in range(len(group.columns), width):
            extra = extra | ((F.col(_GROUP) == number) & F.col(_position(index)).isNotNull())
    values = F.concat_ws(",", *(F.col(_position(index)) for index in range(width)))
    return F.when(extra, rescue.member(rescue.CORRUPT, rescue.quoted(F.coalesce(F.col(_LINE), values))))


def _width(groups: tuple[FileGroup, ...]) -> int:
    return max((len(group.columns) for group in groups), default=0)


def _ddl(columns: StructType) -> str:
    return ", ".join(f"`{f.name.replace('`', '``')}` {f.dataType.simpleString()}" for f in columns.fields)
