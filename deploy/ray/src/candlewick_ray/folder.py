"""The folder of a sweep: which shards have run, and how one is put there."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from candlewick_ray.failure import WRONG_USAGE, Failure
from candlewick_ray.plan import Plan, journal_name


@dataclass(frozen=True)
class Best:
    """The set with the highest figure so far. Nobody has weighed it against luck: the merge does."""

    score: float
    trial: int
    shard: int


@dataclass
class Folder:
    """The journals of shards that have run to their end."""

    plan: Plan
    path: Path
    done: set[int] = field(default_factory=set)
    best: Best | None = None

    @classmethod
    def open(cls, plan: Plan, path: Path) -> Folder:
        """Reads which shards are there. One of another sweep is a `Failure`."""
        folder = cls(plan, path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            for shard in range(1, plan.shards + 1):
                file = path / journal_name(shard)
                if file.exists():
                    folder._note(shard, file.read_bytes(), file)
        except OSError as error:
            raise Failure(f"{path}: the folder cannot be used: {error}") from error
        return folder

    def missing(self) -> list[int]:
        """The shards that have to run, in their order."""
        return [shard for shard in range(1, self.plan.shards + 1) if shard not in self.done]

    def before(self, shard: int) -> list[Path]:
        """The journals that a shard needs."""
        return [self.path / journal_name(one) for one in self.plan.before(shard)]

    def put(self, shard: int, journal: bytes) -> bool:
        """Puts the journal of a shard into its place, whole or not at all. False where it is not whole."""
        file = self.path / journal_name(shard)
        if not self._note(shard, journal, file):
            return False
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=self.path)
        try:
            with os.fdopen(handle, "wb") as writer:
                writer.write(journal)
                writer.flush()
                os.fsync(writer.fileno())
            os.chmod(name, 0o644)
            os.replace(name, file)
        except OSError as error:
            self.done.discard(shard)
            Path(name).unlink(missing_ok=True)
            raise Failure(f"{file}: it cannot be written: {error}", "make room, and start again") from error
        return True

    def _note(self, shard: int, journal: bytes, file: Path) -> bool:
        """Whether every trial of the shard is in its journal."""
        head, *lines = journal.split(b"\n")
        identity = _parsed(head).get("sweep")
        if identity is None:
            return False
        # Where a window lies and what came of the rounds before the program knows, and holds the
        # shard to it when they are merged.
        own = {"walk-forward": "window", "sweep": "after"}.get(self.plan.command)
        identity = {name: value for name, value in identity.items() if name != own}
        if identity != self.plan.identity_of(shard):
            raise Failure(
                f"{file}: it holds the trials of another sweep or program",
                "name another folder with --out, or remove the file",
                WRONG_USAGE,
            )
        records = [record for record in map(_parsed, lines) if record.get("rung") == 0]
        if {record.get("trial") for record in records} < set(self.plan.trials(shard)):
            return False
        self.done.add(shard)
        for record in records:
            score = _score(self.plan, record.get("figures"))
            if score is not None and (self.best is None or score > self.best.score):
                self.best = Best(score, int(record["trial"]), shard)
        return True


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _score(plan: Plan, figures: dict[str, Any] | None) -> float | None:
    """The objective's figure, as candlewick has it; None for a set that does not count."""
    if figures is None or figures["won"] + figures["lost"] < max(plan.min_trades, 1):
        return None
    if plan.objective == "drawdown-penalised":
        return float(figures["pnl"] - figures["max_drawdown"])
    value = figures.get({"edge": "edge_lower"}.get(plan.objective, plan.objective))
    return None if value is None else float(value)
