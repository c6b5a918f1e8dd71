"""Runs what is missing of a sweep: which shard when, what is tried again, and when it is given up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from candlewick_ray.failure import INTERRUPTED, REFUSALS, Failure
from candlewick_ray.folder import Folder
from candlewick_ray.worker import Answer


@dataclass(frozen=True)
class Lost:
    """A task that brought no answer: its node or its process is gone."""

    shard: int
    why: str


class Engine(Protocol):
    """A cluster."""

    def submit(self, shard: int, before: list[Path]) -> None:
        """Lets a shard run as soon as there is room, with the journals that it needs."""

    def wait(self, seconds: float) -> list[Answer | Lost]:
        """What came back, as soon as something did."""

    def cancel(self) -> None:
        """Ends all that runs."""

    def cpus(self) -> int:
        """What the nodes have that are there now."""


class Watcher(Protocol):
    """Whoever is told how it goes."""

    def shard(self, folder: Folder, answer: Answer) -> None:
        """A shard has run."""

    def retry(self, shard: int, why: str, attempt: int) -> None:
        """A shard runs again."""


@dataclass(frozen=True)
class Limits:
    """How often and how long."""

    #: Attempts at one shard, the first included.
    attempts: int = 5
    #: Seconds without an answer after which it is given up.
    stall_s: float = 3_660.0
    #: Seconds without any node after which it is given up.
    no_nodes_s: float = 300.0
    #: Seconds after which it is looked whether to stop.
    beat_s: float = 1.0


def run(
    folder: Folder,
    engine: Engine,
    watcher: Watcher,
    limits: Limits,
    is_stopped: Callable[[], bool] = lambda: False,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Runs the missing shards into the folder. A `Failure` leaves there what ran; a second start goes on."""
    plan, missing = folder.plan, folder.missing()
    # Those of a round wait until all before them have run.
    rounds = [deque(shard for shard in missing if plan.round_of(shard) == one) for one in range(plan.rounds)]
    attempts = dict.fromkeys(missing, 0)
    in_flight: set[int] = set()
    last_answer = last_node = now()
    try:
        while any(rounds) or in_flight:
            queue = next((one for one in rounds if one), rounds[-1])
            if in_flight and queue and plan.round_of(queue[0]) > min(map(plan.round_of, in_flight)):
                queue = deque()
            if is_stopped():
                raise Failure("interrupted", "the same command goes on", INTERRUPTED)
            cpus = engine.cpus()
            # Some wait in the cluster, so that no core does; not all, so that a lost driver loses little.
            while queue and len(in_flight) < max(4 * cpus, 4):
                shard = queue.popleft()
                attempts[shard] += 1
                in_flight.add(shard)
                engine.submit(shard, folder.before(shard))
            found = engine.wait(limits.beat_s)
            last_node = now() if cpus or found else last_node
            last_answer = now() if found else last_answer
            for one in found:
                in_flight.discard(one.shard)
                why = _problem(folder, one)
                if why is None:
                    assert isinstance(one, Answer)
                    watcher.shard(folder, one)
                elif attempts[one.shard] >= limits.attempts:
                    raise Failure(
                        f"shard {one.shard} failed {limits.attempts} times, at last: {why}",
                        "the same command goes on",
                    )
                else:
                    watcher.retry(one.shard, why, attempts[one.shard])
                    rounds[plan.round_of(one.shard)].append(one.shard)
            if now() - last_node > limits.no_nodes_s:
                raise Failure(
                    f"the cluster has had no core for {limits.no_nodes_s:g} s",
                    "start nodes; the same command goes on",
                )
            if now() - last_answer > limits.stall_s:
                raise Failure(
                    f"no shard has ended for {limits.stall_s:g} s",
                    "a larger --shard-timeout waits longer; the same command goes on",
                )
    finally:
        if in_flight:
            engine.cancel()


def _problem(folder: Folder, one: Answer | Lost) -> str | None:
    """Why a shard has to run again; None where it is in its place."""
    if isinstance(one, Lost):
        return one.why
    if one.code in REFUSALS:
        assert one.code is not None
        raise Failure(f"shard {one.shard} was refused on {one.host}: {one.said}", "", one.code)
    if one.code != 0:
        how = f"ended with {one.code}" if one.code is not None else "was stopped"
        return f"it {how} on {one.host}: {one.said}"
    return None if folder.put(one.shard, one.journal) else f"its journal is not whole ({one.host})"
