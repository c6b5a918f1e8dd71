"""Schedules the missing shards, with retries and limits."""

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
    """A task without an answer: its node or process was lost."""

    shard: int
    why: str


class Engine(Protocol):
    """A cluster."""

    def submit(self, shard: int, before: list[Path]) -> None:
        """Queues a shard with the journals that it needs."""

    def wait(self, seconds: float) -> list[Answer | Lost]:
        """Returns answers as soon as there are any."""

    def cancel(self) -> None:
        """Cancels all tasks."""

    def cpus(self) -> int:
        """Returns the number of cores of all current nodes."""


class Watcher(Protocol):
    """Receiver of progress updates."""

    def shard(self, folder: Folder, answer: Answer) -> None:
        """Reports a finished shard."""

    def retry(self, shard: int, why: str, attempt: int) -> None:
        """Reports a retry."""


@dataclass(frozen=True)
class Limits:
    """Limits of attempts and waiting times."""

    #: Maximum attempts per shard, including the first.
    attempts: int = 5
    #: Maximum seconds without an answer.
    stall_s: float = 3_660.0
    #: Maximum seconds without a node.
    no_nodes_s: float = 300.0
    #: Seconds between checks for a stop request.
    beat_s: float = 1.0


def run(
    folder: Folder,
    engine: Engine,
    watcher: Watcher,
    limits: Limits,
    is_stopped: Callable[[], bool] = lambda: False,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Runs the missing shards into the folder. After a `Failure`, a second start resumes."""
    plan, missing = folder.plan, folder.missing()
    # Shards of a round wait for all previous rounds.
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
                raise Failure("interrupted", "repeat the command to resume", INTERRUPTED)
            cpus = engine.cpus()
            # A short queue in the cluster keeps every core busy, and a lost driver loses little.
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
                        f"shard {one.shard} failed {limits.attempts} times; last error: {why}",
                        "repeat the command to resume",
                    )
                else:
                    watcher.retry(one.shard, why, attempts[one.shard])
                    rounds[plan.round_of(one.shard)].append(one.shard)
            if now() - last_node > limits.no_nodes_s:
                raise Failure(
                    f"the cluster has had no core for {limits.no_nodes_s:g} s",
                    "start nodes and repeat the command to resume",
                )
            if now() - last_answer > limits.stall_s:
                raise Failure(
                    f"no shard has ended for {limits.stall_s:g} s",
                    "raise --shard-timeout and repeat the command to resume",
                )
    finally:
        if in_flight:
            engine.cancel()


def _problem(folder: Folder, one: Answer | Lost) -> str | None:
    """Stores a shard. Returns the reason for a retry, or None on success."""
    if isinstance(one, Lost):
        return one.why
    if one.code in REFUSALS:
        assert one.code is not None
        raise Failure(f"shard {one.shard} was refused on {one.host}: {one.said}", "", one.code)
    if one.code != 0:
        how = f"exit code {one.code}" if one.code is not None else "stopped"
        return f"{how} on {one.host}: {one.said}"
    return None if folder.put(one.shard, one.journal) else f"incomplete journal ({one.host})"
