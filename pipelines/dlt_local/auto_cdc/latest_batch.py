"""One batch of an SCD type 1 target whose events tell whole rows: target first, then state."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local import failpoints
from dlt_local.auto_cdc import latest
from dlt_local.auto_cdc.batch import Batch
from dlt_local.auto_cdc.events import (
    assembled,
    comparable,
    fingerprint,
    flat_key,
    has_null_sequence,
    sequence,
)
from dlt_local.auto_cdc.log import Part
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import KEY, OP, ROW, SEQ, TRUNCATE, UPSERT
from dlt_local.auto_cdc.target import Difference
from dlt_local.names import quote
from dlt_local.spark.observations import observed_metrics

_ACTIONS = (latest.INSERT, latest.UPDATE, latest.REMOVE, latest.COMPARE)


class LatestBatch(Batch):
    """A batch for `latest`."""

    def apply(self, flat: DataFrame) -> CdcMetrics:
        """Bring target and state up to the batch."""
        session = flat.sparkSession
        has_truncates = self.args.apply_as_truncates is not None
        log = self.state.read(session)
        if has_truncates:
            flat = self.cache.keep(flat)
        events = assembled(flat, self.args)
        truncates, null_truncates = self._count_truncates(flat) if has_truncates else (0, 0)
        if log is None and not has_truncates:
            last, seen = self._reduce_first(flat)
        else:
            last, seen = self._reduce(flat.where(F.col(OP) != TRUNCATE))
        total = seen["events"] + truncates
        self.refuse_nulls(flat, seen["null_keys"], seen["null_sequences"] + null_truncates, total)
        if not total:
            return CdcMetrics()
        plan, planned = self._plan(last, seen, log, self.newest_truncate(events))
        gone = self._truncated(session, events, plan) if truncates else None
        is_retried = self.state.begin(self.batch, self.reached(seen, lambda: [log] if log is not None else []))
        failpoints.reach("cdc.before")
        remembered: Future[Part | None] | None = None
        if planned["remembers"]:
            entries = plan.where(latest.REMEMBERS).select(KEY, SEQ, OP, latest.HASH)
            # By half of the cores: on the others Delta looks the target's files up, and begins to write it.
            entries = entries.coalesce(max(1, session.sparkContext.defaultParallelism // 2))
            remembered = self.beside.submit(self.state.write, entries, self.state.log, self.batch)
        upserted, deleted = self._write_target(plan, gone, planned, is_retried)
        failpoints.reach("cdc.between")
        if truncates:
            self.remember_truncates(events)
        if remembered is not None:
            self.state.log.add(remembered.result())
        failpoints.reach("cdc.after")
        return CdcMetrics(
            num_upserted_rows=upserted,
            num_deleted_rows=deleted,
            num_events=total,
            num_late_events=self._count_late(events, plan) if planned["late"] else 0,
            num_duplicate_events=seen["repeats"] + planned["repeated"],
            num_ties=seen["ties"],
        )

    def _reduce_first(self, flat: DataFrame) -> tuple[DataFrame, Mapping[str, Any]]:
        """The same as `_reduce` where nothing is known yet.

        That is a snapshot mostly, which tells each key once: to count the keys is half the work of bringing together
        the events of each.
        """
        keys = [F.col(part) for part in flat_key(self.args)]
        flat = self.cache.compute(flat)
        number_of_keys = self.beside.submit(flat.select(*keys).distinct().count)
        upserts = F.count_if(F.col(OP) == UPSERT).alias("upserts")
        seen = self.count(flat, *self.totals(), upserts, *self.bounds(sequence(self.args)))
        if number_of_keys.result() < seen["events"]:
            return self._reduce(flat)
        only = assembled(flat, self.args)
        last = only.withColumn(latest.HASH, fingerprint(F.col(ROW), self.args.columns))
        return last, {**seen, "keys": seen["events"], "repeats": 0, "ties": 0}

    def _reduce(self, flat: DataFrame) -> tuple[DataFrame, Mapping[str, Any]]:
        """The event of each key that counts, and what was seen on the way there."""
        whole = Observation()
        is_first = F.col(latest.NTH) == 1
        last = self.cache.compute(latest.last_places(flat.observe(whole, *self.totals()), self.args))
        # Counted afterwards: what is observed on the way is worked out row by row, without Spark's own classes for it.
        ends = self.count(
            last,
            F.count_if(is_first).alias("keys"),
            F.count_if(~is_first).alias("others"),
            F.count_if(is_first & (F.col(OP) == UPSERT)).alias("upserts"),
            *self.bounds(F.col(SEQ)),
        )
        seen = {name: observed_metrics(whole)[name] for name in ("events", "null_sequences", "null_keys")} | dict(ends)
        if not seen["others"]:
            return last, {**seen, "repeats": 0, "ties": 0}
        last = self.cache.keep(latest.deciding(last, self.args))
        counted = self.count(
            last,
            F.sum(latest.REPEATS).alias("repeats"),
            F.sum(latest.TIES).alias("ties"),
            F.count_if(F.col(OP) == UPSERT).alias("upserts"),
        )
        return last, {**seen, **counted}

    def _count_late(self, events: DataFrame, plan: DataFrame) -> int:
        late = plan.where(latest.IS_LATE).select(KEY)
        return events.join(late, KEY, "left_semi").count()

    def _count_truncates(self, flat: DataFrame) -> tuple[int, int]:
        found = flat.where(F.col(OP) == TRUNCATE)
        what = F.count(F.lit(1)).alias("truncates"), F.count_if(has_null_sequence(self.args)).alias("null_sequences")
        counted = self.count(found, *what)
        return counted["truncates"], counted["null_sequences"]

    def _plan(
        self, last: DataFrame, seen: Mapping[str, Any], log: DataFrame | None, truncated: DataFrame | None
    ) -> tuple[DataFrame, Mapping[str, int]]:
        """What is to become of each key, and how many keys there are of each kind."""
        if truncated is None and (log is None or self.is_newer(seen)):
            kinds = (latest.INSERT, None) if log is None else (latest.UPDATE, latest.REMOVE)
            counts = dict(zip(kinds, (seen["upserts"], seen["keys"] - seen["upserts"]), strict=True))
            planned = {**dict.fromkeys(_ACTIONS, 0), "late": 0, "repeated": 0, "remembers": seen["keys"]}
            return latest.newer(last, *kinds), {**planned, **{kind: n for kind, n in counts.items() if kind}}
        if log is None:
            known = latest.unknown(last)
        else:
            known = last.join(latest.known_of(log, last, self.state.expired()), KEY, "left")
        if truncated is None:
            placed = known.withColumn(latest.TRUNCATED_AT, F.lit(None).cast(self.args.sequence_type))
        else:
            placed = known.crossJoin(F.broadcast(truncated))
        plan = self.cache.keep(latest.actions(placed))
        return plan, self.count(
            plan,
            *(F.count_if(F.col(latest.ACTION) == a).alias(a) for a in _ACTIONS),
            F.count_if(latest.REMEMBERS).alias("remembers"),
            F.count_if(latest.IS_LATE).alias("late"),
            F.count_if(latest.IS_REPEATED).alias("repeated"),
        )

    def _truncated(self, session: SparkSession, events: DataFrame, plan: DataFrame) -> DataFrame | None:
        state, truncated = self.state.read(session), self.newest_truncate(events)
        if state is None or truncated is None:
            return None
        entries = latest.latest_entries(state, self.state.expired()).crossJoin(F.broadcast(truncated))
        is_older = (F.col("known.op") == UPSERT) & (F.col("known.seq") < F.col(latest.TRUNCATED_AT))
        keys = entries.where(is_older).select(KEY)
        own = plan.where(F.col(latest.ACTION).isNotNull()).select(KEY)
        return self.cache.keep(keys.join(own, KEY, "left_anti"))

    def _write_target(
        self, plan: DataFrame, gone: DataFrame | None, planned: Mapping[str, int], is_retried: bool
    ) -> tuple[int, int]:
        acted = sum(planned[action] for action in _ACTIONS)
        # A key that the batch truncates and brings back is an insert, over a row that the target still has.
        may_be_there = is_retried or gone is not None
        if acted == planned[latest.INSERT] and not may_be_there:
            new = plan.where(F.col(latest.ACTION) == latest.INSERT).select(f"{ROW}.*")
            return (self.target.append(new, self.batch), 0) if acted else (0, 0)
        source = plan.where(F.col(latest.ACTION).isNotNull()).select(KEY, latest.ACTION, ROW)
        if gone is not None:
            none = F.lit(None).cast(plan.schema[ROW].dataType)
            source = source.unionByName(gone.select(KEY, F.lit(latest.REMOVE).alias(latest.ACTION), none.alias(ROW)))
        return self.target.change(
            Difference(
                source,
                rows=acted,
                on=(),
                among="TRUE",
                values={name: F.col(f"s.{ROW}.{quote(name)}") for name in self.args.columns.names},
                is_put=F.col(f"s.{latest.ACTION}") != latest.REMOVE,
                is_new=F.lit(False) if may_be_there else F.col(f"s.{latest.ACTION}") == latest.INSERT,
                changes=self._is_greater() if planned[latest.COMPARE] else None,
            )
        )

    def _is_greater(self) -> Column:
        """False where an event ties with the row that is stored, and the stored one is the greater."""
        columns = self.args.columns
        stored = F.struct(*[F.col(f"t.{quote(name)}").alias(name) for name in columns.names])
        is_greater = comparable(F.col(f"s.{ROW}"), columns) > comparable(stored, columns)
        return (F.col(f"s.{latest.ACTION}") != latest.COMPARE) | is_greater
