"""One batch of an SCD type 2 target, or of one whose events tell parts of rows: state first, then target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local import failpoints
from dlt_local.auto_cdc import fold, latest, succession
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.batch import Batch
from dlt_local.auto_cdc.events import assembled, flat_key, is_open, sequence, with_arrival
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import DELETE, EVENT, KEY, OP, ROW, SEQ, TRUNCATE
from dlt_local.auto_cdc.target import HELD_IN_MEMORY, Difference
from dlt_local.delta import delta_log
from dlt_local.names import END_AT, START_AT, quote


@dataclass(frozen=True)
class Succession:
    """What a batch that lies behind all that is known does to the target."""

    events: DataFrame
    """From `succession`."""
    seen: Mapping[str, int]
    """How many of each kind there are."""
    is_whole: bool
    """True where ``events`` has every open version, so that the target can be written anew from it."""


class FoldBatch(Batch):
    """A batch for `fold`."""

    def apply(self, flat: DataFrame) -> CdcMetrics:
        """Bring state and target up to the batch."""
        session = flat.sparkSession
        flat = self.cache.keep(with_arrival(flat))
        events = assembled(flat, self.args)
        counts = self._look_at(flat)
        self.refuse_nulls(flat, counts["null_keys"], counts["null_sequences"], counts["events"])
        if not counts["events"]:
            return CdcMetrics()
        log = self.state.read(session)
        is_first = log is None and not delta_log.has_rows(self.target.path)
        reached = self.reached(counts, lambda: [] if is_first else self._sequences(session, log))
        is_behind = is_first or self.is_newer(counts)
        is_plain = succession.applies(self.args) and self.newest_truncate(events) is None
        found = self._succession(flat, counts["events"], is_first) if is_behind and is_plain else None
        self.state.begin(self.batch, reached)
        if found is not None:
            return self._succeed(found, counts["events"])
        return self._fold(events, counts, log, is_first)

    def _look_at(self, flat: DataFrame) -> Mapping[str, Any]:
        truncates = F.count_if(F.col(OP) == TRUNCATE).alias("truncates")
        return self.count(flat, *self.totals(), truncates, *self.bounds(sequence(self.args)))

    def _sequences(self, session: SparkSession, log: DataFrame | None) -> list[DataFrame]:
        """Every sequence that state and target know."""
        logged = [] if log is None else [log.select(SEQ)]
        if self.args.scd_type == 1:
            return logged
        return [*logged, *(self.target.read(session).select(F.col(at).alias(SEQ)) for at in (START_AT, END_AT))]

    def _succession(self, flat: DataFrame, events: int, is_first: bool) -> Succession | None:
        """The batch's events with the versions that they end; None where two share a place."""
        session = flat.sparkSession
        columns = (*self.args.columns.names, START_AT, END_AT)
        is_whole = not is_first and self.target.is_large_part(events, columns)
        versions = self.target.read(session).where(is_open(self.args))
        if is_first:
            versions = versions.where(F.lit(False))
        elif not is_whole:
            keys = flat.select(*flat_key(self.args))
            same_key = [
                versions[quote(key)] == keys[part]
                for key, part in zip(self.args.keys, flat_key(self.args), strict=True)
            ]
            touched = F.broadcast(keys) if events <= HELD_IN_MEMORY else keys
            versions = versions.join(touched, same_key, "left_semi")
        followed = succession.succession(flat, succession.open_versions(versions, self.args), self.args)
        own, starts = F.col(succession.IS_OWN), F.col(succession.STARTS)
        is_new, ends = own & starts, ~own & F.col(succession.END).isNotNull()
        hidden, out_of_order = F.col(succession.IS_HIDDEN), F.col(succession.IS_OUT_OF_ORDER)
        shared = F.col(succession.SHARES_PLACE)
        told_of = F.lit(True) if is_whole else is_new | ends | hidden | out_of_order | shared
        needed = self.cache.compute(followed.where(told_of))
        seen = self.count(
            needed,
            F.count_if(shared).alias("shared"),
            F.count_if(is_new).alias("new"),
            F.count_if(ends).alias("ended"),
            F.count_if(hidden).alias("hidden"),
            F.count_if(out_of_order).alias("out_of_order"),
        )
        return None if seen["shared"] else Succession(needed, seen, is_whole)

    def _succeed(self, found: Succession, events: int) -> CdcMetrics:
        needed, seen = found.events, found.seen
        failpoints.reach("cdc.before")
        if seen["hidden"]:
            self.state.append(succession.hidden(needed, self.args), self.state.log, self.batch)
        failpoints.reach("cdc.between")
        if found.is_whole:
            rows = succession.last_versions(needed, self.args).select(*self._columns())
            ended = self.target.read(needed.sparkSession).where(F.col(END_AT).isNotNull())
            self.target.overwrite(ended.select(*rows.columns).unionByName(rows))
            upserted, deleted = seen["new"] + seen["ended"], 0
        else:
            changed = succession.changed_versions(needed, self.args)
            upserted, deleted = self._write_target(changed, seen["new"], seen["ended"], is_open(self.args))
        failpoints.reach("cdc.after")
        overtaken = needed.where(F.col(succession.IS_OUT_OF_ORDER)).select(*flat_key(self.args))
        return CdcMetrics(
            num_upserted_rows=upserted,
            num_deleted_rows=deleted,
            num_events=events,
            num_out_of_order_keys=overtaken.distinct().count() if seen["out_of_order"] else 0,
        )

    def _fold(self, events: DataFrame, counts: Mapping[str, Any], log: DataFrame | None, is_first: bool) -> CdcMetrics:
        session = events.sparkSession
        facts = self._facts(session, events, log, is_first, every_key=bool(counts["truncates"]))
        folded = self.cache.keep(fold.fold(facts, self.args))
        told = self._tell(folded)
        if self.args.scd_type == 2:
            plan, planned = fold.actions(folded, self.args), told
            among = None if told["had_ended"] else is_open(self.args)
        else:
            plan = self.cache.keep(fold.rows(folded))
            planned, among = self._count_rows(plan), "TRUE"
        failpoints.reach("cdc.before")
        if counts["truncates"]:
            self.remember_truncates(events)
        if told["hidden"]:
            self.state.append(fold.hidden(folded, self.args), self.state.log, self.batch)
        failpoints.reach("cdc.between")
        upserted, deleted = self._write_target(plan, planned["new"], planned["other"], among)
        failpoints.reach("cdc.after")
        return CdcMetrics(
            num_upserted_rows=upserted,
            num_deleted_rows=deleted,
            num_events=counts["events"],
            num_late_events=told["late"],
            num_duplicate_events=told["repeats"] or 0,
            num_ties=told["ties"],
            num_out_of_order_keys=told["out_of_order"],
        )

    def _tell(self, folded: DataFrame) -> Mapping[str, Any]:
        new, other, had_ended = fold.count_actions(self.args)
        return self.count(
            folded,
            new.alias("new"),
            other.alias("other"),
            had_ended.alias("had_ended"),
            F.count_if(fold.is_to_remember(self.args)).alias("hidden"),
            F.count_if(fold.IS_LATE).alias("late"),
            F.sum(fold.REPEATS).alias("repeats"),
            F.count_if(fold.IS_TIE).alias("ties"),
            F.count_distinct(F.when(F.col(fold.IS_OUT_OF_ORDER), F.col(KEY))).alias("out_of_order"),
        )

    def _count_rows(self, plan: DataFrame) -> Mapping[str, Any]:
        is_added = (F.col(fold.ACTION) == fold.PUT) & F.col(fold.IS_NEW)
        return self.count(plan, F.count_if(is_added).alias("new"), F.count_if(~is_added).alias("other"))

    def _facts(
        self, session: SparkSession, events: DataFrame, log: DataFrame | None, is_first: bool, every_key: bool
    ) -> DataFrame:
        """All that is known of the keys that the batch touches, as far back as the batch can change anything."""
        none = F.lit(None).cast(fold.existing_type(self.args))
        own = events.where(F.col(OP) != TRUNCATE).withColumn(fold.ORIGIN, F.lit(fold.BATCH))
        own = own.withColumn(fold.EXISTING, none)
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
        target = self.target.read(session)
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

    def _write_target(self, plan: DataFrame, added: int, other: int, among: str | None) -> tuple[int, int]:
        if not other:
            new = plan.where(F.col(fold.IS_NEW)).select(*self._columns())
            return (self.target.append(new, self.batch), 0) if added else (0, 0)
        values = {name: F.col(f"s.{ROW}.{quote(name)}") for name in self.args.columns.names}
        on: tuple[Column, ...] = ()
        if self.args.scd_type == 2:
            values |= {START_AT: F.col(f"s.{fold.START}"), END_AT: F.col(f"s.{fold.END}")}
            on = (F.col(f"t.{START_AT}") == F.col(f"s.{fold.START}"),)
        return self.target.change(
            Difference(
                plan,
                rows=added + other,
                on=on,
                among=among,
                values=values,
                is_put=F.col(f"s.{fold.ACTION}") == fold.PUT,
                is_new=F.col(f"s.{fold.IS_NEW}"),
                changes=None,
            )
        )

    def _columns(self) -> list[Column]:
        """The target's columns of a planned row."""
        columns = [F.col(f"{ROW}.{quote(name)}").alias(name) for name in self.args.columns.names]
        if self.args.scd_type == 2:
            columns += [F.col(fold.START).alias(START_AT), F.col(fold.END).alias(END_AT)]
        return columns


def _key_of(args: ChangeArgs) -> Column:
    return F.struct(*[F.col(quote(key)).alias(key) for key in args.keys]).alias(KEY)
