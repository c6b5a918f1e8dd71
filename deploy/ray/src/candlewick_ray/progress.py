"""Progress: a line on stderr, or JSON lines on stdout with `--json`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from candlewick_ray.folder import Folder
from candlewick_ray.worker import Answer


class Lines:
    """Text progress: an updated line on a terminal, else a line every few seconds."""

    def __init__(self, is_quiet: bool) -> None:
        """Prints only errors if `is_quiet`."""
        self._is_quiet = is_quiet
        self._is_terminal = sys.stderr.isatty()
        self._written = 0.0

    def begun(self, folder: Folder, cpus: int, shipped: int) -> None:
        """Reports the start."""
        resumed = f", {len(folder.done)} already finished" if folder.done else ""
        self.note(f"{folder.plan.shards} shards{resumed}; {cpus} cores, {shipped / 1e6:.0f} MB shipped")

    def shard(self, folder: Folder, answer: Answer) -> None:
        """See `driver.Watcher`."""
        is_last = len(folder.done) == folder.plan.shards
        if self._is_quiet or not (self._is_terminal or is_last or time.monotonic() > self._written + 5):
            return
        self._written = time.monotonic()
        best = ""
        if folder.best is not None:
            best = f", best {folder.plan.objective} {folder.best.score:+.4f} (trial {folder.best.trial})"
        text = f"{len(folder.done)} of {folder.plan.shards} shards{best}"
        end = "\n" if is_last or not self._is_terminal else ""
        print(f"\r\x1b[K{text}" if self._is_terminal else text, end=end, file=sys.stderr, flush=True)

    def retry(self, shard: int, why: str, attempt: int) -> None:
        """See `driver.Watcher`."""
        self.note(f"shard {shard} runs again after attempt {attempt}: {why}")

    def note(self, text: str) -> None:
        """Prints a permanent line."""
        if not self._is_quiet:
            clear = "\r\x1b[K" if self._is_terminal else ""
            print(f"{clear}{text}", file=sys.stderr, flush=True)

    def merged(self, said: str) -> None:
        """Prints the report of the merge."""
        print(said, end="", flush=True)


class Objects(Lines):
    """JSON progress."""

    def begun(self, folder: Folder, cpus: int, shipped: int) -> None:
        """`begun`: total and finished shards, cores, shipped bytes."""
        self._print(
            "begun", shards=folder.plan.shards, done=len(folder.done), cpus=cpus, shipped_bytes=shipped
        )

    def shard(self, folder: Folder, answer: Answer) -> None:
        """`shard`: number, host, duration and the best set so far."""
        best = None
        if folder.best is not None:
            best = {
                "objective": folder.plan.objective,
                "score": folder.best.score,
                "trial": folder.best.trial,
            }
        self._print(
            "shard",
            shard=answer.shard,
            host=answer.host,
            seconds=round(answer.seconds, 3),
            done=len(folder.done),
            shards=folder.plan.shards,
            best=best,
        )

    def retry(self, shard: int, why: str, attempt: int) -> None:
        """`retry`: shard, reason and failed attempt."""
        self._print("retry", shard=shard, why=why, attempt=attempt)

    def merged(self, said: str) -> None:
        """`merged`: the report of `candlewick sweep merge --json`."""
        self._print("merged", report=json.loads(said))

    def _print(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), flush=True)
