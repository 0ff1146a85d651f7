"""The shops: their pipeline, their captures, and the three rounds in which they arrive.

That of SQL Server is large, and what tests and guides run on; every other kind of connector has a small one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from cdc import TableSpec, configuration, load_tables
from dlt_local import LocalPipeline
from dlt_local.observability.progress import Progress

CHECKOUT = Path(__file__).resolve().parents[1]
CONF = CHECKOUT / "conf"
CONNECTOR = "shop"
STORAGE = CHECKOUT / ".databricks" / "demo"
_CAPTURES = CHECKOUT / "demo" / "captures"
_SMALL_SHOPS = CHECKOUT / "demo" / "kinds"
_PIPELINES = CHECKOUT / "pipelines"


@dataclass(frozen=True)
class Round:
    """The captures that arrive before an update, and what happened in the shop."""

    captures: tuple[Path, ...]
    story: str


@dataclass(frozen=True)
class Shop:
    """One shop: its specs, the rounds in which its records arrive, and where the demo keeps its tables."""

    conf: Path
    rounds: tuple[Round, ...]
    storage: Path


def _round(*names: str, story: str, captures: Path = _CAPTURES) -> Round:
    return Round(tuple(captures / f"{name}.jsonl" for name in names), story)


ROUNDS = (
    _round("1-snapshot", story="March 2nd, before the shop opens: the connector starts and reads every row"),
    _round(
        "2-round",
        story="March 2nd and 3rd: orders are paid, packed, cancelled; customer 112 is deleted and created again, "
        "order 1011 becomes 1111; the connector restarts and redelivers some records",
    ),
    _round(
        "3-round",
        "4-damaged",
        story="March 4th to 10th: orders get a channel, order 1005 comes back, a backfill reads all orders again; "
        "then 13 unusable records",
    ),
)

_SMALL_ROUNDS = (
    ("1-snapshot", "The connector starts and reads every row"),
    (
        "2-round",
        "Orders are paid, changed and shipped; customer 104 is deleted and created again, order 1005 becomes 1105; "
        "the connector is killed and delivers some records again",
    ),
    ("3-round 4-damaged", "Orders get a channel, order 1003 comes back; then 5 unusable records"),
)


def _small_shop(folder: Path) -> Shop:
    rounds = (_round(*names.split(), story=story, captures=folder / "captures") for names, story in _SMALL_ROUNDS)
    return Shop(folder / "conf", tuple(rounds), STORAGE.with_name(f"demo-{folder.name}"))


SQLSERVER = "sqlserver"
SHOPS: Mapping[str, Shop] = {
    SQLSERVER: Shop(CONF, ROUNDS, STORAGE),
    **{conf.parent.name: _small_shop(conf.parent) for conf in sorted(_SMALL_SHOPS.glob("*/conf"))},
}
"""Kind of connector -> its shop."""


def tables(conf: Path = CONF) -> tuple[TableSpec, ...]:
    """The source tables of the pipeline, by name."""
    return load_tables(conf, CONNECTOR)


def pipeline(
    storage: Path,
    source: Mapping[str, str],
    spark: SparkSession | None = None,
    progress: Progress | None = None,
    conf: Path = CONF,
) -> LocalPipeline:
    """The pipeline as deployed, on a local storage folder.

    Args:
        storage: folder for the tables and the engine's files.
        source: where records come from: ``cdc.source``, and settings for Kafka.
        spark: the session to run on; by default a new one.
        progress: receives the progress of updates.
        conf: the folder of table and connector specs.
    """
    return LocalPipeline(
        name="shop",
        sources=[_PIPELINES / layer / "**" for layer in ("bronze", "silver", "gold")],
        storage=storage,
        configuration={configuration.CONF: str(conf), configuration.CONNECTOR: CONNECTOR, **source},
        root_path=_PIPELINES,
        spark=spark,
        progress=progress,
    )
