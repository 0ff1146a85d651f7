"""Updates of the shop killed (-9) at random moments lead to the same tables as updates that are left alone.

A moment is a number of Delta commits plus up to a second, so it falls within the update on fast and slow machines
alike. SHOP_SEED repeats the moments; a failure shows it.
"""

import os
import signal
import time
from collections.abc import Collection
from pathlib import Path
from random import Random
from subprocess import Popen

import pytest
from demo import shop as the_shop
from pyspark.sql import SparkSession
from tests.support.crash import update_in_a_process
from tests.support.shop_model import STAGES
from tests.support.shop_pipeline import Shop, StagedShop, difference

SEED = int(os.environ.get("SHOP_SEED") or time.time_ns() % 1_000_000_007)
_PATIENCE_SECONDS = 900.0
_MOST_SECONDS_AFTER_THE_COMMIT = 1.0


def test_one_of_three_updates_is_killed_and_that_changes_nothing_in_the_end(
    staged_shop: StagedShop, spark: SparkSession, tmp_path: Path
) -> None:
    random = Random(SEED)
    _killed(staged_shop, Shop(tmp_path, spark), random, [random.randrange(len(the_shop.ROUNDS))])


@pytest.mark.long
@pytest.mark.parametrize("run", range(10))
def test_thirty_kills_change_nothing_in_the_end(
    staged_shop: StagedShop, spark: SparkSession, tmp_path: Path, run: int
) -> None:
    rounds = range(len(the_shop.ROUNDS))
    assert _killed(staged_shop, Shop(tmp_path, spark), Random(SEED + run), rounds) > 0


def _killed(staged: StagedShop, shop: Shop, random: Random, rounds: Collection[int]) -> int:
    """Kill the updates of some of the demo's three rounds, then complete one; the number killed before their end."""
    killed, moments = 0, [f"SHOP_SEED={SEED}"]
    for number, (each, commits) in enumerate(zip(the_shop.ROUNDS, _commits_of_rounds(staged), strict=True)):
        shop.feed.deliver(each.captures)
        if number not in rounds:
            shop.update()
            continue
        commit, seconds = random.randrange(commits), round(random.uniform(0, _MOST_SECONDS_AFTER_THE_COMMIT), 2)
        was_killed = _kill(shop, commit, seconds)
        killed += was_killed
        moments.append(f"{'killed' if was_killed else 'ended before'} {commit} of {commits} commits + {seconds} s")
    print(*moments, sep="\n")
    shop.update()
    different = difference(staged.tables, shop.tables())
    assert not different, "\n".join([*moments, different])
    assert {name: (c.records, c.adds_up) for name, c in shop.counts().items()} == {
        name: (c.records, True) for name, c in staged.counts[STAGES[-1]].items()
    }
    return killed


def _commits_of_rounds(staged: StagedShop) -> list[int]:
    """The least number of commits of a complete update, for each of the demo's rounds."""
    first, second, third, _ = (staged.commits[stage] for stage in STAGES)
    return [first, second - first, third - second]


def _kill(shop: Shop, commits: int, seconds: float) -> bool:
    """Run an update in a new process and kill it; False if it had ended by then.

    Args:
        shop: the shop to update.
        commits: the update is killed after at least this many commits.
        seconds: and after this much time since the last of them.
    """
    pipeline = shop.pipeline
    settings = [("--set", f"{key}={value}") for key, value in pipeline.configuration.items()]
    sources = [("--source", source) for source in pipeline.sources[1:]]
    arguments = (part for pair in [*sources, *settings, ("--root-path", str(pipeline.root_path))] for part in pair)
    wanted = shop.commits() + commits
    process = update_in_a_process(Path(pipeline.sources[0]), shop.storage, arguments=tuple(arguments))
    try:
        _await(process, shop, wanted)
        time.sleep(seconds)
        return process.poll() is None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), output.decode()


def _await(process: "Popen[bytes]", shop: Shop, commits: int) -> None:
    """Wait until the update has started and made its commits, or has ended."""
    lock = shop.storage / "system" / "lock"
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        has_started = lock.exists() and lock.read_text().strip() == str(process.pid)
        if has_started and shop.commits() >= commits:
            return
        time.sleep(0.02)
