"""SQL Server's column types as written in a spec."""

import pytest

from cdc.errors import Condition
from cdc.spec.kinds import KINDS, TypeFault
from cdc.spec.model import SourceType

parse_type = KINDS["sqlserver"].parse_type
known_types = KINDS["sqlserver"].known_types

PLAIN = (
    "bit tinyint smallint int bigint real money smallmoney text ntext image date datetime smalldatetime "
    "uniqueidentifier xml rowversion hierarchyid"
).split()


@pytest.mark.parametrize("name", PLAIN)
def test_types_without_arguments(name: str) -> None:
    assert parse_type(name) == (SourceType(name), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("decimal", SourceType("decimal", precision=18, scale=0)),
        ("decimal(9)", SourceType("decimal", precision=9, scale=0)),
        ("numeric(38,38)", SourceType("numeric", precision=38, scale=38)),
        ("float", SourceType("float", precision=53)),
        ("float(25)", SourceType("float", precision=53)),
        ("float(24)", SourceType("real")),
        ("char", SourceType("char", length=1)),
        ("char(8000)", SourceType("char", length=8000)),
        ("varchar(max)", SourceType("varchar", is_max=True)),
        ("VarChar ( MAX )", SourceType("varchar", is_max=True)),
        ("nchar(4000)", SourceType("nchar", length=4000)),
        ("nvarchar(80)", SourceType("nvarchar", length=80)),
        ("nvarchar(max)", SourceType("nvarchar", is_max=True)),
        ("binary(16)", SourceType("binary", length=16)),
        ("varbinary", SourceType("varbinary", length=1)),
        ("varbinary(max)", SourceType("varbinary", is_max=True)),
        ("time", SourceType("time", precision=7)),
        ("time(0)", SourceType("time", precision=0)),
        ("datetime2", SourceType("datetime2", precision=7)),
        ("datetime2(3)", SourceType("datetime2", precision=3)),
        ("datetimeoffset", SourceType("datetimeoffset", precision=7)),
        ("timestamp", SourceType("rowversion")),
        ("integer", SourceType("int")),
        ("dec(5,2)", SourceType("decimal", precision=5, scale=2)),
        ("double precision", SourceType("float", precision=53)),
        ("national character varying(10)", SourceType("nvarchar", length=10)),
        ("bigint identity(1,1)", SourceType("bigint")),
        ("  INT  ", SourceType("int")),
    ],
)
def test_defaults_ranges_and_synonyms(text: str, expected: SourceType) -> None:
    assert parse_type(text) == (expected, None)


@pytest.mark.parametrize(
    ("text", "nullable"),
    [
        ("int not null", False),
        ("int null", True),
        ("decimal(18, 2) NOT  NULL", False),
        ("int identity not null", False),
    ],
)
def test_nullability_may_follow(text: str, nullable: bool) -> None:
    assert parse_type(text)[1] is nullable


@pytest.mark.parametrize(
    "text",
    [
        *("decimal(0)", "decimal(39)", "decimal(5,6)", "decimal(5,-1)", "decimal(1,2,3)", "decimal()"),
        *(
            "nvarchar(0)",
            "nvarchar(4001)",
            "varchar(8001)",
            "char(max)",
            "binary(1.5)",
            "float(54)",
            "float(0)",
        ),
        *("time(8)", "datetime2(-1)", "int(4)", "money(19,4)", "date(3)"),
        *("", "int int", "varchar(10", "[int]", "json", "cursor", "int not nul"),
    ],
)
def test_what_the_server_rejects_is_rejected(text: str) -> None:
    with pytest.raises(TypeFault) as raised:
        parse_type(text)
    assert raised.value.condition is Condition.BAD_TYPE
    assert raised.value.fix


@pytest.mark.parametrize("name", ["sql_variant", "geography", "geometry"])
def test_types_that_the_connector_omits_are_rejected_for_that_reason(name: str) -> None:
    with pytest.raises(TypeFault, match=f"Debezium omits {name} columns") as raised:
        parse_type(f"{name} null")
    assert raised.value.condition is Condition.UNSUPPORTED_TYPE


@pytest.mark.parametrize("name", known_types)
def test_a_type_is_written_as_it_is_read(name: str) -> None:
    once = parse_type(name)[0]
    assert parse_type(str(once))[0] == once


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("nvarchr(80)", "nvarchar"),
        ("datetme", "datetime"),
        ("uniqueidentifer", "uniqueidentifier"),
        ("bigit", "bigint"),
    ],
)
def test_a_misspelt_type_has_a_near_match(typo: str, meant: str) -> None:
    with pytest.raises(TypeFault) as raised:
        parse_type(typo)
    assert raised.value.near_match == meant


def test_large_types_are_those_stored_off_row() -> None:
    large = [name for name in known_types if parse_type(name)[0].is_large]
    assert large == ["text", "ntext", "image", "xml"]
    assert all(parse_type(f"{name}(max)")[0].is_large for name in ("varchar", "nvarchar", "varbinary"))
