"""Folder of finished shards."""

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
    """Best set so far, not corrected for multiple testing; the merge does that."""

    score: float
    trial: int
    shard: int


@dataclass
class Folder:
    """Journals of finished shards."""

    plan: Plan
    path: Path
    done: set[int] = field(default_factory=set)
    best: Best | None = None

    @classmethod
    def open(cls, plan: Plan, path: Path) -> Folder:
        """Finds finished shards. Raises `Failure` for a shard of another sweep."""
        folder = cls(plan, path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            for shard in range(1, plan.shards + 1):
                file = path / journal_name(shard)
                if file.exists():
                    folder._note(shard, file.read_bytes(), file)
        except OSError as error:
            raise Failure(f"{path}: folder cannot be used: {error}") from error
        return folder

    def missing(self) -> list[int]:
        """Returns the shards to run, in order."""
        return [shard for shard in range(1, self.plan.shards + 1) if shard not in self.done]

    def before(self, shard: int) -> list[Path]:
        """Returns the journals that a shard needs."""
        return [self.path / journal_name(one) for one in self.plan.before(shard)]

    def put(self, shard: int, journal: bytes) -> bool:
        """Stores the journal of a shard atomically. Returns False if it is incomplete."""
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
            raise Failure(f"{file}: cannot be written: {error}", "free disk space and start again") from error
        return True

    def _note(self, shard: int, journal: bytes, file: Path) -> bool:
        """Returns whether the journal contains every trial of the shard."""
        head, *lines = journal.split(b"\n")
        identity = _parsed(head).get("sweep")
        if identity is None:
            return False
        # Only the program knows windows and results of previous rounds. It checks them during
        # the merge.
        own = {"walk-forward": "window", "sweep": "after"}.get(self.plan.command)
        identity = {name: value for name, value in identity.items() if name != own}
        if identity != self.plan.identity_of(shard):
            raise Failure(
                f"{file}: contains trials of another sweep or program",
                "choose another folder with --out, or remove the file",
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
    """Returns the value of the objective, None for a set that does not count."""
    if figures is None or figures["won"] + figures["lost"] < max(plan.min_trades, 1):
        return None
    if plan.objective == "drawdown-penalised":
        return float(figures["pnl"] - figures["max_drawdown"])
    value = figures.get({"edge": "edge_lower"}.get(plan.objective, plan.objective))
    return None if value is None else float(value)
