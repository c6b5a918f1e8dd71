"""The plan of a sweep or a walk, as `candlewick sweep plan` or `candlewick walk-forward plan` wrote it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candlewick_ray.failure import WRONG_USAGE, Failure

#: The form of a plan that this driver understands.
FORMAT = 3
#: The commands whose plans have shards.
COMMANDS = ("sweep", "walk-forward", "monte-carlo", "sensitivity")


@dataclass(frozen=True)
class Plan:
    """What the driver needs to know of a plan. What its trials are decides candlewick alone."""

    path: Path
    text: bytes
    #: The command that runs its shards.
    command: str
    #: Sets of each search, or paths.
    sets: int
    shards: int
    objective: str
    min_trades: int
    #: Where the candles lay when the plan was made: files, or series of a catalog.
    data: tuple[str, ...]
    catalog: str | None
    #: Files that parameters name.
    files: tuple[str, ...]
    #: What stands at the head of a shard's journal, without the shard, the window of a walk, and what
    #: came before in a search that learns.
    identity: dict[str, Any]
    #: Windows of a walk, each of which has as many shards; 1 of a sweep.
    windows: int = 1
    #: Rounds of a sweep that learns, each of which has as many shards and needs what came of those before it.
    rounds: int = 1
    #: Whether the search learns: it may find fewer sets than it is asked for.
    learns: bool = False

    def trials(self, shard: int) -> range:
        """The trials of a shard, which is numbered from 1: of a walk, those of its window."""
        if self.learns:
            # How many sets a shard has the program alone knows; a window of a walk has one at least.
            return range(1 if self.command == "walk-forward" else 0)
        parts = self.shards // self.windows
        part = (shard - 1) % parts
        return range(part * self.sets // parts, (part + 1) * self.sets // parts)

    def round_of(self, shard: int) -> int:
        """The round of a shard, from 0."""
        return (shard - 1) * self.rounds // self.shards

    def before(self, shard: int) -> range:
        """The shards without whose journals a shard cannot run: those of all rounds before its own."""
        return range(1, self.round_of(shard) * self.shards // self.rounds + 1)

    def identity_of(self, shard: int) -> dict[str, Any]:
        """What stands at the head of a shard's journal."""
        return self.identity | {"shard": [shard, self.shards]}


def journal_name(shard: int) -> str:
    """The file of a shard's trials."""
    return f"shard-{shard}.jsonl"


def read_plan(path: Path) -> Plan:
    """Reads a plan; a `Failure` says what is wrong with it."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise Failure(
            f"{path}: the plan cannot be read: {error.strerror}",
            "make one with candlewick sweep plan",
            WRONG_USAGE,
        ) from error
    try:
        return _plan(path, text, json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(
            f"{path}: it is not a plan of shards: {error}",
            "make it anew with sweep plan or walk-forward plan",
            WRONG_USAGE,
        ) from error


def _plan(path: Path, text: bytes, value: dict[str, Any]) -> Plan:
    if value.get("format") != FORMAT:
        raise ValueError(f"its format is {value.get('format')}, and this driver reads {FORMAT}")
    arguments, identity = value["arguments"], value["sweep"]
    plan = Plan(
        path=path,
        text=text,
        command=str(value["command"]),
        sets=int(value["sets"]),
        shards=int(value["shards"]),
        # Paths and settings of a venue are not better or worse than each other.
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
        raise ValueError(f"{plan.command} made it, and this driver runs {', '.join(COMMANDS)}")
    if plan.shards < 1:
        raise ValueError("it has no shards")
    if plan.windows < 1 or plan.shards % plan.windows:
        raise ValueError(f"its {plan.shards} shards are not so many for each of {plan.windows} windows")
    if plan.rounds < 1 or plan.shards % plan.rounds:
        raise ValueError(f"its {plan.shards} shards are not so many for each of {plan.rounds} rounds")
    return plan
