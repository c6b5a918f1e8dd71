"""Plans written by `candlewick sweep plan` and similar commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candlewick_ray.failure import WRONG_USAGE, Failure

#: Supported format of plans.
FORMAT = 3
#: Commands whose plans have shards.
COMMANDS = ("sweep", "walk-forward", "monte-carlo", "sensitivity")


@dataclass(frozen=True)
class Plan:
    """The part of a plan that the driver needs. Only candlewick interprets the trials."""

    path: Path
    text: bytes
    #: Command that runs the shards.
    command: str
    #: Number of sets per search, or of paths.
    sets: int
    shards: int
    objective: str
    min_trades: int
    #: Candles at the time of planning: files, or series of a catalog.
    data: tuple[str, ...]
    catalog: str | None
    #: Files named by parameters.
    files: tuple[str, ...]
    #: Header of a shard's journal, without the shard, the window of a walk-forward, and previous
    #: results of a search that learns.
    identity: dict[str, Any]
    #: Windows of a walk-forward, with equally many shards each; 1 for a sweep.
    windows: int = 1
    #: Rounds of a search that learns, with equally many shards each. A round needs all previous ones.
    rounds: int = 1
    #: Whether the search learns. It may find fewer sets than requested.
    learns: bool = False

    def trials(self, shard: int) -> range:
        """Returns the trials of a shard (1-based), within its window for a walk-forward."""
        if self.learns:
            # Only the program knows the number of sets of a shard; a window has at least one.
            return range(1 if self.command == "walk-forward" else 0)
        parts = self.shards // self.windows
        part = (shard - 1) % parts
        return range(part * self.sets // parts, (part + 1) * self.sets // parts)

    def round_of(self, shard: int) -> int:
        """Returns the 0-based round of a shard."""
        return (shard - 1) * self.rounds // self.shards

    def before(self, shard: int) -> range:
        """Returns the shards whose journals a shard needs: all of previous rounds."""
        return range(1, self.round_of(shard) * self.shards // self.rounds + 1)

    def identity_of(self, shard: int) -> dict[str, Any]:
        """Returns the header of a shard's journal."""
        return self.identity | {"shard": [shard, self.shards]}


def journal_name(shard: int) -> str:
    """Returns the file name of a shard's journal."""
    return f"shard-{shard}.jsonl"


def read_plan(path: Path) -> Plan:
    """Reads a plan. Raises `Failure` if it is invalid."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise Failure(
            f"{path}: plan cannot be read: {error.strerror}",
            "make one with candlewick sweep plan",
            WRONG_USAGE,
        ) from error
    try:
        return _plan(path, text, json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(
            f"{path}: not a plan of shards: {error}",
            "create it again with sweep plan or walk-forward plan",
            WRONG_USAGE,
        ) from error


def _plan(path: Path, text: bytes, value: dict[str, Any]) -> Plan:
    if value.get("format") != FORMAT:
        raise ValueError(f"format {value.get('format')} is not supported, expected {FORMAT}")
    arguments, identity = value["arguments"], value["sweep"]
    plan = Plan(
        path=path,
        text=text,
        command=str(value["command"]),
        sets=int(value["sets"]),
        shards=int(value["shards"]),
        # Paths and settings of a venue have no ranking.
        objective=str(arguments.get("objective", "edge")),
        min_trades=int(arguments.get("min_trades", 0)),
        data=tuple(str(one) for one in arguments["data"]),
        catalog=arguments["catalog"],
        files=tuple(identity.get("files", {})),
        identity=dict(identity),
        windows=int((value.get("walk") or {"windows": 1})["windows"]),
        rounds=int(value.get("rounds") or 1),
        learns=arguments.get("search") == "tpe",
    )
    if plan.command not in COMMANDS:
        raise ValueError(f"plans of {plan.command} are not supported, only of {', '.join(COMMANDS)}")
    if plan.shards < 1:
        raise ValueError("it has no shards")
    if plan.windows < 1 or plan.shards % plan.windows:
        raise ValueError(f"its {plan.shards} shards are not so many for each of {plan.windows} windows")
    if plan.rounds < 1 or plan.shards % plan.rounds:
        raise ValueError(f"its {plan.shards} shards are not so many for each of {plan.rounds} rounds")
    return plan
