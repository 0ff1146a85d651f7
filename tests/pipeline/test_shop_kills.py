"""Updates of the shop that are killed (-9) at random moments: what comes of it in the end is as if none had been.

A moment is a number of Delta commits into the update and some time behind it, so that it falls within the update
on a fast machine and on a slow one. SHOP_SEED repeats the moments; a failure tells it.
"""

import os
import signal
import time
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
_SECONDS_BEHIND = 1.0


def test_three_updates_each_killed_once(staged_shop: StagedShop, spark: SparkSession, tmp_path: Path) -> None:
    assert _killed_in_each_round(staged_shop, Shop(tmp_path, spark), Random(SEED)) > 0


@pytest.mark.long
@pytest.mark.parametrize("run", range(10))
def test_thirty_kills(staged_shop: StagedShop, spark: SparkSession, tmp_path: Path, run: int) -> None:
    assert _killed_in_each_round(staged_shop, Shop(tmp_path, spark), Random(SEED + run)) > 0


def _killed_in_each_round(staged: StagedShop, shop: Shop, random: Random) -> int:
    """Kill the update of each of the demo's three rounds, then run one to the end; how many were killed in time."""
    usual = _commits_of_rounds(staged)
    killed, told = 0, []
    for each, commits in zip(the_shop.ROUNDS, usual, strict=True):
        shop.feed.deliver(each.captures)
        moment, behind = random.randrange(commits), round(random.uniform(0, _SECONDS_BEHIND), 2)
        was_killed = _kill(shop, moment, behind)
        killed += was_killed
        told.append(f"{'killed' if was_killed else 'ended before'} {moment} of {commits} commits + {behind} s")
    print(f"SHOP_SEED={SEED}", *told, sep="\n")
    shop.update()
    different = difference(staged.tables, shop.tables())
    assert not different, "\n".join([f"SHOP_SEED={SEED}", *told, different])
    assert {name: (c.records, c.adds_up) for name, c in shop.counts().items()} == {
        name: (c.records, True) for name, c in staged.counts[STAGES[-1]].items()
    }
    return killed


def _commits_of_rounds(staged: StagedShop) -> list[int]:
    """How many commits an update makes that nobody kills, for each of the demo's rounds at least."""
    first, second, third, _ = (staged.commits[stage] for stage in STAGES)
    return [first, second - first, third - second]


def _kill(shop: Shop, commits: int, behind: float) -> bool:
    """Run an update in a process of its own and kill it there; False if it had ended before.

    Args:
        shop: whose update.
        commits: how many the update is to have made when it is killed, or some more.
        behind: seconds to wait then.
    """
    pipeline = shop.pipeline
    settings = [("--set", f"{key}={value}") for key, value in pipeline.configuration.items()]
    others = [("--source", source) for source in pipeline.sources[1:]]
    arguments = (part for pair in [*others, *settings, ("--root-path", str(pipeline.root_path))] for part in pair)
    wanted = shop.commits() + commits
    process = update_in_a_process(Path(pipeline.sources[0]), shop.storage, arguments=tuple(arguments))
    try:
        _await(process, shop, wanted)
        time.sleep(behind)
        return process.poll() is None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), output.decode()


def _await(process: "Popen[bytes]", shop: Shop, commits: int) -> None:
    """Wait until the update has begun and made its commits, or has ended."""
    lock = shop.storage / "system" / "lock"
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        begun = lock.exists() and lock.read_text().strip() == str(process.pid)
        if begun and shop.commits() >= commits:
            return
        time.sleep(0.02)
