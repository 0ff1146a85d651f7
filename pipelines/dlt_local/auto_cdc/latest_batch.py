"""One batch of an SCD type 1 target whose events tell whole rows: target first, then state."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local import faults
from dlt_local.auto_cdc import latest, newest
from dlt_local.auto_cdc.batch import Batch
from dlt_local.auto_cdc.events import comparable, has_null_key, has_null_sequence
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import KEY, OP, ROW, SEQ, TRUNCATE, UPSERT
from dlt_local.auto_cdc.target import Difference
from dlt_local.names import quote

_ACTIONS = (latest.INSERT, latest.UPDATE, latest.REMOVE, latest.COMPARE)


class LatestBatch(Batch):
    """A batch for `latest`."""

    def apply(self, events: DataFrame) -> CdcMetrics:
        """Bring target and state up to the batch."""
        session = events.sparkSession
        has_truncates = self.args.apply_as_truncates is not None
        if has_truncates:
            events = self.cache.keep(events)
        truncates, null_truncates = self._count_truncates(events) if has_truncates else (0, 0)
        last = self.cache.keep(latest.last_events(events.where(F.col(OP) != TRUNCATE), self.args))
        seen = self._count(last)
        total = (seen["events"] or 0) + truncates
        self.refuse_nulls(events, seen["null_keys"] or 0, (seen["null_sequences"] or 0) + null_truncates, total)
        if not total:
            return CdcMetrics()
        plan, told = self._plan(session, last, seen, self.newest_truncate(events))
        gone = self._truncated(session, events, plan) if truncates else None
        is_retried = self.state.begin(self.batch, self._newest(session, seen))
        faults.reach("cdc.before")
        upserted, deleted = self._write_target(plan, gone, told, is_retried)
        faults.reach("cdc.between")
        if truncates:
            self.remember_truncates(events)
        if told["remembers"]:
            entries = plan.where(latest.REMEMBERS).select(KEY, SEQ, OP, latest.HASH)
            self.state.append(entries, self.state.log, self.batch)
        faults.reach("cdc.after")
        return CdcMetrics(
            num_upserted_rows=upserted,
            num_deleted_rows=deleted,
            num_events=total,
            num_late_events=told["late"] or 0,
            num_duplicate_events=(seen["repeats"] or 0) + told["repeated"],
            num_ties=seen["ties"] or 0,
            num_out_of_order_keys=seen["out_of_order"] or 0,
        )

    def _count(self, last: DataFrame) -> Mapping[str, Any]:
        places = {
            name: place
            for name, of in (("least", F.min), ("greatest", F.max))
            if (place := newest.place(of(SEQ), self.args.sequence_type)) is not None
        }
        counted = last.agg(
            F.sum(latest.EVENTS).alias("events"),
            F.sum(latest.REPEATS).alias("repeats"),
            F.sum(latest.TIES).alias("ties"),
            F.sum(latest.OUT_OF_ORDER).alias("out_of_order"),
            F.sum(latest.NULL_SEQUENCES).alias("null_sequences"),
            F.sum(F.when(has_null_key(self.args), F.col(latest.EVENTS))).alias("null_keys"),
            F.count(F.lit(1)).alias("keys"),
            F.count_if(F.col(OP) == UPSERT).alias("upserts"),
            *(place.alias(name) for name, place in places.items()),
        ).head()
        assert counted is not None
        return {"least": None, "greatest": None, **counted.asDict()}

    def _count_truncates(self, events: DataFrame) -> tuple[int, int]:
        found = events.where(F.col(OP) == TRUNCATE)
        row = found.agg(F.count(F.lit(1)), F.count_if(has_null_sequence(self.args))).head()
        assert row is not None
        return row[0], row[1]

    def _plan(
        self, session: SparkSession, last: DataFrame, seen: Mapping[str, Any], truncated: DataFrame | None
    ) -> tuple[DataFrame, Mapping[str, int]]:
        """What is to become of each key, and how many keys there are of each kind."""
        log = self.state.read(session)
        if truncated is None and (log is None or self._is_newer(seen)):
            kinds = (latest.INSERT, None) if log is None else (latest.UPDATE, latest.REMOVE)
            counts = dict(zip(kinds, (seen["upserts"], seen["keys"] - seen["upserts"]), strict=True))
            told = {**dict.fromkeys(_ACTIONS, 0), "late": 0, "repeated": 0, "remembers": seen["keys"]}
            return latest.newer(last, *kinds), {**told, **{kind: n for kind, n in counts.items() if kind}}
        if log is None:
            known = latest.unknown(last)
        else:
            known = last.join(latest.known_of(log, last, self.state.expired()), KEY, "left")
        if truncated is None:
            placed = known.withColumn(latest.TRUNCATED_AT, F.lit(None).cast(self.args.sequence_type))
        else:
            placed = known.crossJoin(F.broadcast(truncated))
        plan = self.cache.keep(latest.actions(placed))
        row = plan.agg(
            *(F.count_if(F.col(latest.ACTION) == a).alias(a) for a in _ACTIONS),
            F.count_if(latest.REMEMBERS).alias("remembers"),
            F.sum(F.when(F.col(latest.IS_LATE), F.col(latest.EVENTS))).alias("late"),
            F.count_if(latest.IS_REPEATED).alias("repeated"),
        ).head()
        assert row is not None
        return plan, row.asDict()

    def _is_newer(self, seen: Mapping[str, Any]) -> bool:
        """True where the whole batch lies behind all that the target knows."""
        least, known = newest.told(seen["least"]), self.state.newest()
        return least is not None and known is not None and least > known

    def _newest(self, session: SparkSession, seen: Mapping[str, Any]) -> newest.Place | None:
        """The greatest sequence with this batch; None where it cannot be told."""
        own, known = newest.told(seen["greatest"]), self.state.newest()
        if own is None or known is not None:
            return newest.greatest(own, known)
        log, place = self.state.read(session), newest.place(F.max(SEQ), self.args.sequence_type)
        if log is None or place is None:
            return own
        row = log.agg(place.alias("greatest")).head()
        return newest.greatest(own, newest.told(row["greatest"] if row else None))

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
        self, plan: DataFrame, gone: DataFrame | None, told: Mapping[str, int], is_retried: bool
    ) -> tuple[int, int]:
        acted = sum(told[action] for action in _ACTIONS)
        if acted == told[latest.INSERT] and gone is None and not is_retried:
            new = plan.where(F.col(latest.ACTION) == latest.INSERT).select(f"{ROW}.*")
            return (self.target.append(new, self.batch), 0) if acted else (0, 0)
        source = plan.where(F.col(latest.ACTION).isNotNull()).select(KEY, latest.ACTION, ROW)
        if gone is not None:
            none = F.lit(None).cast(plan.schema[ROW].dataType)
            source = source.unionByName(gone.select(KEY, F.lit(latest.REMOVE).alias(latest.ACTION), none.alias(ROW)))
        columns = self.args.columns
        stored = F.struct(*[F.col(f"t.{quote(name)}").alias(name) for name in columns.names])
        is_greater = comparable(F.col(f"s.{ROW}"), columns) > comparable(stored, columns)
        return self.target.change(
            Difference(
                source,
                rows=acted,
                on=(),
                values={name: F.col(f"s.{ROW}.{quote(name)}") for name in columns.names},
                is_put=F.col(f"s.{latest.ACTION}") != latest.REMOVE,
                changes=(F.col(f"s.{latest.ACTION}") != latest.COMPARE) | is_greater,
            )
        )
