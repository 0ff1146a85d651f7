"""The one place of AUTO CDC with effects: a batch of source rows goes in, target and state are written.

Killed between any two writes and given the same batch again, both come out as if nothing had happened:

- *latest* (SCD type 1, whole rows): target first, then state. As long as the state does not know a batch, the batch
  is worked out anew from the same state, and the target's MERGE sets the same rows again; an append carries the
  batch's number and is not done twice.
- *fold* (SCD type 2, and partial rows): state first, then target. The state only ever gains facts, and a fact told
  twice is one fact; so the target is worked out from at least what it was worked out from before.
"""

from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from dlt_local import delta_log, faults
from dlt_local.auto_cdc import fold, latest
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import comparable, has_null_key, has_null_sequence, to_events
from dlt_local.auto_cdc.names import DELETE, EVENT, KEY, OP, ROW, SEQ, TRUNCATE, UPSERT
from dlt_local.auto_cdc.state import State
from dlt_local.errors import FlowError
from dlt_local.names import END_AT, START_AT, quote


@dataclass(frozen=True)
class CdcMetrics:
    """What one batch did; rows of the target and events of the source."""

    num_upserted_rows: int = 0
    num_deleted_rows: int = 0
    num_events: int = 0
    num_late_events: int = 0
    """Events older than what the target already knew of their key. SCD type 1 counts those of keys for which the
    batch has nothing newer."""
    num_duplicate_events: int = 0
    """Events told before with the same sequence, kind and row."""
    num_ties: int = 0
    """Events of one key that share their sequence and differ."""
    num_out_of_order_keys: int = 0
    """Keys whose last event to arrive in the batch is not the last in sequence."""

    def __add__(self, other: "CdcMetrics") -> "CdcMetrics":
        return CdcMetrics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


class AutoCdcHandler:
    """Applies batches of one flow to its target."""

    def __init__(self, args: ChangeArgs, target: Path, state: State, app: str) -> None:
        """Take what every batch needs.

        Args:
            args: the flow, resolved against source and target.
            target: the target's Delta table; it exists and has all columns.
            state: what is remembered beside the target.
            app: the name under which Delta keeps this flow's batch numbers; a new one after each full refresh.
        """
        self._args = args
        self._target = target
        self._state = state
        self._app = app

    def apply(self, batch: DataFrame, batch_id: int) -> CdcMetrics:
        """Apply one batch; the same batch again changes nothing.

        Raises:
            FlowError: a key or a sequence is null somewhere; nothing is written then.
        """
        events = to_events(batch, self._args)
        with _Cache() as cache:
            run = _LatestBatch if self._args.is_latest else _FoldBatch
            metrics = run(self._args, self._target, self._state, (self._app, batch_id), cache).apply(events)
        self._state.compact_if_due(batch.sparkSession, self._args)
        return metrics


class _Cache:
    """Frames that are computed once and let go of together."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> "_Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def keep(self, frame: DataFrame) -> DataFrame:
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._stack.callback(kept.unpersist)
        return kept


class _Batch:
    """What both ways have in common."""

    def __init__(self, args: ChangeArgs, target: Path, state: State, batch: tuple[str, int], cache: _Cache) -> None:
        self.args = args
        self.target = target
        self.state = state
        self.batch = batch
        self.cache = cache

    def refuse_nulls(self, events: DataFrame, null_keys: int, null_sequences: int, of: int) -> None:
        """Refuse the batch whole. Sequences are looked at first, as Spark does."""
        for count, condition, bad, what in (
            (null_sequences, "NULL_SEQUENCE", has_null_sequence(self.args), "sequence_by"),
            (null_keys, "NULL_KEY", has_null_key(self.args), f"key ({', '.join(self.args.keys)})"),
        ):
            if count:
                shown = events.where(bad).select(F.to_json(F.struct(KEY, SEQ, ROW)).alias("e")).limit(3).collect()
                examples = "".join(f"\n    {_plain(row['e'])}" for row in shown)
                raise FlowError(
                    f"AUTOCDC_MICROBATCH_VALIDATION.{condition}",
                    str(self.args.target),
                    f"{count} of {of} changes of flow `{self.args.flow}` have a null in their {what}; "
                    f"the batch is refused and {self.args.target} is as it was. For example:{examples}",
                    "give every part a value in the source (coalesce), or keep such rows out (`where`, an expectation)",
                )

    def newest_truncate(self, events: DataFrame) -> DataFrame | None:
        """One row, the greatest sequence of a truncate known or new as TRUNCATED_AT; None where there never was one."""
        known = self.state.read_truncates(events.sparkSession)
        if self.args.apply_as_truncates is None and known is None:
            return None
        found = events.where(F.col(OP) == TRUNCATE).select(SEQ)
        every = found if known is None else found.unionByName(known.select(SEQ))
        return every.agg(F.max(SEQ).alias(latest.TRUNCATED_AT))

    def remember_truncates(self, events: DataFrame) -> None:
        self.state.append(events.where(F.col(OP) == TRUNCATE).select(SEQ), self.state.truncates, self.batch)

    def append_to_target(self, rows: DataFrame) -> int:
        """Add rows, once for this batch however often it is tried; how many."""
        app, version = self.batch
        before = delta_log.version(self.target)
        writer = rows.write.format("delta").mode("append").option("txnAppId", app).option("txnVersion", version)
        writer.save(str(self.target))
        after = delta_log.version(self.target)
        if after is None or after == before:
            return 0
        return delta_log.operation_metrics(self.target, after).get("numOutputRows", 0)

    def merge_into_target(
        self, source: DataFrame, on: list[Column], keep: dict[str, Column], is_put: Column, changes: Column
    ) -> tuple[int, int]:
        """Update or insert what `is_put`, delete the rest; (upserted, deleted) rows.

        Args:
            source: one row per row of the target that is to change, under the alias ``s``.
            on: beside the keys, what tells the target's row (alias ``t``).
            keep: the columns to set.
            is_put: false for a row that is to go.
            changes: false for a row of the source that is to leave the target's as it is.
        """
        keys = [F.col(f"t.{quote(key)}") == F.col(f"s.{KEY}.{quote(key)}") for key in self.args.keys]
        condition = F.lit(True)
        for part in (*keys, *on):
            condition = condition & part
        table = DeltaTable.forPath(source.sparkSession, str(self.target))
        before = delta_log.version(self.target)
        assignments: dict[str, str | Column] = {quote(name): value for name, value in keep.items()}
        (
            table.alias("t")
            .merge(source.alias("s"), condition)
            .whenMatchedDelete(~is_put)
            .whenMatchedUpdate(changes, assignments)
            .whenNotMatchedInsert(is_put, assignments)
            .execute()
        )
        after = delta_log.version(self.target)
        if after is None or after == before:
            return 0, 0
        told = delta_log.operation_metrics(self.target, after)
        upserted = told.get("numTargetRowsInserted", 0) + told.get("numTargetRowsUpdated", 0)
        return upserted, told.get("numTargetRowsDeleted", 0)


class _LatestBatch(_Batch):
    def apply(self, events: DataFrame) -> CdcMetrics:
        session = events.sparkSession
        has_truncates = self.args.apply_as_truncates is not None
        if has_truncates:
            events = self.cache.keep(events)
        truncates, null_truncates = self._count_truncates(events) if has_truncates else (0, 0)
        last = latest.last_events(events.where(F.col(OP) != TRUNCATE), self.args)
        plan = self.cache.keep(self._plan(last, self.newest_truncate(events)))
        told = self._tell(plan)
        total = (told["events"] or 0) + truncates
        self.refuse_nulls(events, told["null_keys"] or 0, (told["null_sequences"] or 0) + null_truncates, total)
        if not total:
            return CdcMetrics()
        gone = self._truncated(session, events, plan) if truncates else None
        faults.reach("cdc.before")
        upserted, deleted = self._write_target(plan, gone, told)
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
            num_duplicate_events=(told["repeats"] or 0) + told["repeated"],
            num_ties=told["ties"] or 0,
            num_out_of_order_keys=told["out_of_order"] or 0,
        )

    def _tell(self, plan: DataFrame) -> Row:
        told = plan.agg(
            F.sum(latest.EVENTS).alias("events"),
            F.sum(latest.REPEATS).alias("repeats"),
            F.sum(latest.TIES).alias("ties"),
            F.sum(latest.OUT_OF_ORDER).alias("out_of_order"),
            F.sum(latest.NULL_SEQUENCES).alias("null_sequences"),
            F.sum(F.when(has_null_key(self.args), F.col(latest.EVENTS))).alias("null_keys"),
            *(F.count_if(F.col(latest.ACTION) == a).alias(a) for a in _ACTIONS),
            F.count_if(latest.REMEMBERS).alias("remembers"),
            F.sum(F.when(F.col(latest.IS_LATE), F.col(latest.EVENTS))).alias("late"),
            F.count_if(latest.IS_REPEATED).alias("repeated"),
        ).head()
        assert told is not None
        return told

    def _count_truncates(self, events: DataFrame) -> tuple[int, int]:
        found = events.where(F.col(OP) == TRUNCATE)
        row = found.agg(F.count(F.lit(1)), F.count_if(has_null_sequence(self.args))).head()
        assert row is not None
        return row[0], row[1]

    def _plan(self, last: DataFrame, truncated: DataFrame | None) -> DataFrame:
        state = self.state.read(last.sparkSession)
        if state is None:
            known = latest.unknown(last)
        else:
            known = last.join(latest.known_of(state, last, self.state.expired()), KEY, "left")
        if truncated is None:
            return latest.actions(known.withColumn(latest.TRUNCATED_AT, F.lit(None).cast(self.args.sequence_type)))
        return latest.actions(known.crossJoin(F.broadcast(truncated)))

    def _truncated(self, session: SparkSession, events: DataFrame, plan: DataFrame) -> DataFrame | None:
        state, truncated = self.state.read(session), self.newest_truncate(events)
        if state is None or truncated is None:
            return None
        entries = latest.latest_entries(state, self.state.expired()).crossJoin(F.broadcast(truncated))
        is_older = (F.col("known.op") == UPSERT) & (F.col("known.seq") < F.col(latest.TRUNCATED_AT))
        keys = entries.where(is_older).select(KEY)
        own = plan.where(F.col(latest.ACTION).isNotNull()).select(KEY)
        return self.cache.keep(keys.join(own, KEY, "left_anti"))

    def _write_target(self, plan: DataFrame, gone: DataFrame | None, told: Row) -> tuple[int, int]:
        only_new = not (told[latest.UPDATE] or told[latest.REMOVE] or told[latest.COMPARE]) and gone is None
        if only_new:
            new = plan.where(F.col(latest.ACTION) == latest.INSERT).select(f"{ROW}.*")
            return (self.append_to_target(new), 0) if told[latest.INSERT] else (0, 0)
        source = plan.where(F.col(latest.ACTION).isNotNull()).select(KEY, latest.ACTION, ROW)
        if gone is not None:
            none = F.lit(None).cast(plan.schema[ROW].dataType)
            source = source.unionByName(gone.select(KEY, F.lit(latest.REMOVE).alias(latest.ACTION), none.alias(ROW)))
        columns = self.args.columns
        stored = F.struct(*[F.col(f"t.{quote(name)}").alias(name) for name in columns.names])
        is_greater = comparable(F.col(f"s.{ROW}"), columns) > comparable(stored, columns)
        return self.merge_into_target(
            source,
            on=[],
            keep={name: F.col(f"s.{ROW}.{quote(name)}") for name in columns.names},
            is_put=F.col(f"s.{latest.ACTION}") != latest.REMOVE,
            changes=(F.col(f"s.{latest.ACTION}") != latest.COMPARE) | is_greater,
        )


_ACTIONS = (latest.INSERT, latest.UPDATE, latest.REMOVE, latest.COMPARE)


class _FoldBatch(_Batch):
    def apply(self, events: DataFrame) -> CdcMetrics:
        session = events.sparkSession
        events = self.cache.keep(events)
        counts = events.agg(
            F.count(F.lit(1)).alias("events"),
            F.count_if(F.col(OP) == TRUNCATE).alias("truncates"),
            F.count_if(has_null_sequence(self.args)).alias("null_sequences"),
            F.count_if(has_null_key(self.args)).alias("null_keys"),
        ).head()
        assert counts is not None
        self.refuse_nulls(events, counts["null_keys"], counts["null_sequences"], counts["events"])
        if not counts["events"]:
            return CdcMetrics()
        facts = self._facts(session, events, every_key=bool(counts["truncates"]))
        folded = self.cache.keep(fold.fold(facts, self.args))
        told = self._tell(folded)
        if self.args.scd_type == 2:
            plan, planned = fold.actions(folded, self.args), told
        else:
            plan = self.cache.keep(fold.rows(folded))
            planned = self._count(plan)
        faults.reach("cdc.before")
        if counts["truncates"]:
            self.remember_truncates(events)
        if told["hidden"]:
            self.state.append(fold.hidden(folded, self.args), self.state.log, self.batch)
        faults.reach("cdc.between")
        upserted, deleted = self._write_target(plan, planned)
        faults.reach("cdc.after")
        return CdcMetrics(
            num_upserted_rows=upserted,
            num_deleted_rows=deleted,
            num_events=counts["events"],
            num_late_events=told["late"],
            num_duplicate_events=told["repeats"] or 0,
            num_ties=told["ties"],
            num_out_of_order_keys=told["out_of_order"],
        )

    def _tell(self, folded: DataFrame) -> Row:
        new, other = fold.count_actions(self.args)
        row = folded.agg(
            new.alias("new"),
            other.alias("other"),
            F.count_if(fold.is_to_remember(self.args)).alias("hidden"),
            F.count_if(fold.IS_LATE).alias("late"),
            F.sum(fold.REPEATS).alias("repeats"),
            F.count_if(fold.IS_TIE).alias("ties"),
            F.count_distinct(F.when(F.col(fold.IS_OUT_OF_ORDER), F.col(KEY))).alias("out_of_order"),
        ).head()
        assert row is not None
        return row

    def _count(self, plan: DataFrame) -> Row:
        is_put = F.col(fold.ACTION) == fold.PUT
        row = plan.agg(
            F.count_if(is_put & F.col(fold.IS_NEW)).alias("new"),
            F.count_if(~(is_put & F.col(fold.IS_NEW))).alias("other"),
        ).head()
        assert row is not None
        return row

    def _facts(self, session: SparkSession, events: DataFrame, every_key: bool) -> DataFrame:
        """All that is known of the keys that the batch touches, as far back as the batch can change anything."""
        none = F.lit(None).cast(fold.existing_type(self.args))
        own = events.where(F.col(OP) != TRUNCATE).withColumn(fold.ORIGIN, F.lit(fold.BATCH))
        own = own.withColumn(fold.EXISTING, none)
        log = self.state.read(session)
        is_first = log is None and not delta_log.has_rows(self.target)
        if is_first:
            return self._above_truncates(events, own)
        bounds = own.groupBy(KEY).agg(F.min(SEQ).alias("since"))
        parts = [own]
        if self.args.scd_type == 2:
            rows = self.cache.keep(self._stored_rows(session, bounds))
            parts.append(fold.facts_of_target(rows, self.args))
            if not self.args.is_partial:
                first = rows.groupBy(_key_of(self.args)).agg(F.min(START_AT).alias("first"))
                bounds = bounds.join(first, KEY, "left").select(
                    KEY, F.least("since", F.coalesce("first", "since")).alias("since")
                )
        if log is not None:
            parts.append(self._logged(log, bounds, every_key).withColumn(fold.EXISTING, none))
        facts = parts[0]
        for part in parts[1:]:
            facts = facts.unionByName(part, allowMissingColumns=True)
        return self._above_truncates(events, facts)

    def _stored_rows(self, session: SparkSession, bounds: DataFrame) -> DataFrame:
        """The target's rows from the one that the batch's first event of a key falls into; of partial rows, all."""
        target = session.read.format("delta").load(str(self.target))
        same_key = [target[quote(key)] == bounds[KEY][key] for key in self.args.keys]
        condition = same_key[0]
        for part in same_key[1:]:
            condition = condition & part
        if not self.args.is_partial:
            condition = condition & (target[END_AT].isNull() | (target[END_AT] >= bounds["since"]))
        return target.join(bounds, condition, "left_semi")

    def _logged(self, log: DataFrame, bounds: DataFrame, every_key: bool) -> DataFrame:
        log = log.where(F.col(KEY).isNotNull())
        if not every_key:
            within = F.col("b.since").isNotNull()
            if not self.args.is_partial:
                within = within & (F.col(f"l.{SEQ}") >= F.col("b.since"))
            same_key = F.col(f"l.{KEY}") == F.col(f"b.{KEY}")
            log = log.alias("l").join(bounds.alias("b"), same_key & within, "left_semi")
        log = self.state.without_expired(log, with_past=self.args.is_partial)
        return log.select(*EVENT).withColumn(fold.ORIGIN, F.lit(fold.STATE))

    def _above_truncates(self, events: DataFrame, facts: DataFrame) -> DataFrame:
        """Facts older than the newest truncate count for nothing; their keys stay, so that their rows go."""
        truncated = self.newest_truncate(events)
        if truncated is None:
            return facts
        gone = F.coalesce(F.col(SEQ) < F.col(latest.TRUNCATED_AT), F.lit(False))
        with_kind = facts.crossJoin(F.broadcast(truncated))
        return (
            with_kind.withColumn(OP, F.when(gone, F.lit(DELETE)).otherwise(F.col(OP)))
            .withColumn(ROW, F.when(~gone, F.col(ROW)))
            .drop(latest.TRUNCATED_AT)
        )

    def _write_target(self, plan: DataFrame, planned: Row) -> tuple[int, int]:
        columns = {name: F.col(f"{ROW}.{quote(name)}") for name in self.args.columns.names}
        if self.args.scd_type == 2:
            columns |= {START_AT: F.col(fold.START), END_AT: F.col(fold.END)}
        if not planned["other"]:
            new = plan.where(F.col(fold.ACTION) == fold.PUT).select(*[c.alias(n) for n, c in columns.items()])
            return (self.append_to_target(new), 0) if planned["new"] else (0, 0)
        keep = {name: F.col(f"s.{ROW}.{quote(name)}") for name in self.args.columns.names}
        on: list[Column] = []
        if self.args.scd_type == 2:
            keep |= {START_AT: F.col(f"s.{fold.START}"), END_AT: F.col(f"s.{fold.END}")}
            on = [F.col(f"t.{START_AT}") == F.col(f"s.{fold.START}")]
        is_put = F.col(f"s.{fold.ACTION}") == fold.PUT
        return self.merge_into_target(plan, on=on, keep=keep, is_put=is_put, changes=F.lit(True))


def _key_of(args: ChangeArgs) -> Column:
    return F.struct(*[F.col(quote(key)).alias(key) for key in args.keys]).alias(KEY)


def _plain(text: str) -> str:
    for own, name in ((KEY, "key"), (SEQ, "sequence"), (ROW, "row")):
        text = text.replace(own, name)
    return text
