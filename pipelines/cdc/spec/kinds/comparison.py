"""Which column types read the values of which others: for specs compared with the source's own description."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cdc.spec.model import ConnectorSpec, SourceType

_PARAMETER = "__debezium.source.column."
Mode = tuple[str, str]
"""A field of a connector spec and its value: ``("decimal_handling_mode", "string")``."""


@dataclass(frozen=True)
class Widths:
    """How the column types of one kind compare."""

    whole_numbers: tuple[str, ...] = ()
    """From the narrowest to the widest."""
    decimals: tuple[str, ...] = ()
    """Records have them without their scale, so it must be the source's."""
    sized: tuple[str, ...] = ()
    """Those with a length, of which a longer one reads every value."""
    fractions: tuple[str, ...] = ()
    """Those with fractional digits of the second as their argument."""
    digits_are_length: bool = False
    """The source's description has these digits as the length, and nothing where there are none."""
    also_held: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Type in a spec -> other types at the source whose values it reads too."""
    ignored: str = ""
    """A pattern of what the source's description adds to the name of a type."""
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the source's description calls a type -> what a spec calls it."""
    with_length: tuple[str, ...] = ()
    """Other types whose argument the source's description has as their length."""
    longest: int | None = None
    """A length in the source's description above this one means ``max``."""
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Types that a schema block does not tell apart, by any name."""
    smaller: tuple[tuple[str, str], ...] = ()
    """Pairs of whole numbers, narrow and wide, that the connector writes with the block of the wide one."""
    same_block: Mapping[Mode | None, Mapping[str, tuple[str, ...]]] = field(default_factory=dict, hash=False)
    """Mode of the connector, None for any -> type that a schema block says -> types of other families that the
    connector writes with it, with or without their arguments."""

    def holds(self, spec: SourceType, source: SourceType) -> bool:
        """Whether a column of the type in a spec reads every value of the source's type as the source has it.

        A wider type does, with two exceptions: records have decimals without their scale, and times in a unit that
        follows from their digits, so scale and digits must be the source's.
        """
        if spec.name in self.whole_numbers and source.name in self.whole_numbers:
            return self.whole_numbers.index(spec.name) >= self.whole_numbers.index(source.name)
        if spec.name in self.sized and spec.name == source.name:
            return spec.is_max or (not source.is_max and (spec.length or 1) >= (source.length or 1))
        if spec.name in self.decimals and source.name in self.decimals:
            return spec.scale == source.scale and (spec.precision or 0) >= (source.precision or 0)
        return spec == source or source.name in self.also_held.get(spec.name, ())

    def may_be(self, block: SourceType, spec: SourceType, connector: ConnectorSpec) -> bool:
        """Whether a column of the type in a spec can have a block that says the other.

        A block does not tell varchar from nvarchar, tinyint from smallint, or datetime from datetime2(3). Precision and
        scale of decimals are in it, and whole numbers, strings, bytes, times and so on are told apart.
        """
        if spec.element is not None and block.element is not None:
            return self.may_be(block.element, spec.element, connector)
        if spec.name in self.decimals and block.name in self.decimals[:1]:
            return self.holds(spec, block)
        if (spec.name, block.name) in self.smaller:
            return True
        if not {spec.name, str(spec)}.isdisjoint(self._same_block(block, connector)):
            return True
        is_number = block.name in self.whole_numbers
        return self.holds(spec, block) if is_number else self._family(block) == self._family(spec)

    def _same_block(self, block: SourceType, connector: ConnectorSpec) -> Iterator[str]:
        for mode, types in self.same_block.items():
            if mode is None or getattr(connector, mode[0]) == mode[1]:
                yield from types.get(block.name, ())

    def _family(self, of_type: SourceType) -> str:
        return next((name for name, types in self.families.items() if of_type.name in types), of_type.name)


@dataclass(frozen=True)
class Blocks:
    """The types that fields of a schema block most likely have in the source."""

    by_name: Mapping[str, str]
    """The block's semantic name (``io.debezium.time.Date``) -> type."""
    by_type: Mapping[str, str]
    """Kafka Connect's type -> type."""
    decimals: tuple[str, ...] = ("decimal", "numeric")
    otherwise: str = "text"

    def type_of(self, schema: Mapping[str, Any]) -> str:
        """The type as in DDL; with `column.propagate.source.type` the block has the source's own type.

        >>> blocks = Blocks({"io.debezium.time.Date": "date"}, {"int64": "bigint"})
        >>> blocks.type_of({"type": "int32", "name": "io.debezium.time.Date"}), blocks.type_of({"type": "int64"})
        ('date', 'bigint')
        """
        stated = schema.get("parameters") or {}
        if name := self.stated_type(schema):
            sizes = [stated[each] for each in (f"{_PARAMETER}length", f"{_PARAMETER}scale") if each in stated]
            return f"{name}({','.join(sizes)})" if sizes and name in self.decimals else name
        if schema.get("name") == "org.apache.kafka.connect.data.Decimal":
            precision = stated.get("connect.decimal.precision", 38)
            return f"{self.decimals[0]}({precision},{stated.get('scale', 0)})"
        return self.by_name.get(str(schema.get("name")), self.by_type.get(str(schema.get("type")), self.otherwise))

    def stated_type(self, schema: Mapping[str, Any]) -> str:
        """The name of the source's own type, which a block has with `column.propagate.source.type`; else empty."""
        return str((schema.get("parameters") or {}).get(f"{_PARAMETER}type", "")).lower()
