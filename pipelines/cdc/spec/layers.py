"""Layers: bronze, silver and gold, and what defaults.yml, connector and table may set for each; the nearest wins."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Layer = Literal["bronze", "silver", "gold"]
LAYERS: tuple[Layer, ...] = ("bronze", "silver", "gold")


@dataclass(frozen=True)
class TargetSchemas:
    """The schema of each layer's datasets: ``schema`` or ``catalog.schema``."""

    bronze: str = "bronze"
    silver: str = "silver"
    gold: str = "gold"

    def over(self, stated: Mapping[str, Any]) -> "TargetSchemas":
        """These, with what a nearer place states in their stead.

        >>> TargetSchemas().over({"gold": "marts"})
        TargetSchemas(bronze='bronze', silver='silver', gold='marts')
        """
        return replace(self, **{layer: stated[layer] for layer in LAYERS if layer in stated})

    def __str__(self) -> str:
        """As a spec writes them."""
        return ", ".join(f"{layer}: {getattr(self, layer)}" for layer in LAYERS)


def target_schemas_in(place: Mapping[str, Any]) -> Mapping[str, Any]:
    """The target schemas that a file sets itself."""
    stated: Mapping[str, Any] = place.get("target_schemas", {})
    return stated


@dataclass(frozen=True)
class TableProperties:
    """The table properties that a spec sets, by layer, as pairs of name and value."""

    bronze: tuple[tuple[str, str], ...] = ()
    silver: tuple[tuple[str, str], ...] = ()
    gold: tuple[tuple[str, str], ...] = ()

    def of(self, layer: Layer) -> dict[str, str]:
        """The properties of a layer's tables."""
        pairs: tuple[tuple[str, str], ...] = getattr(self, layer)
        return dict(pairs)

    def over(self, nearer: "TableProperties") -> "TableProperties":
        """These, with what a nearer place sets in their stead, property by property."""
        return TableProperties(*(tuple({**self.of(layer), **nearer.of(layer)}.items()) for layer in LAYERS))
