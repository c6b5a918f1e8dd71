"""A small plan, and journals of its shards in candlewick's format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from candlewick_ray.plan import Plan, read_plan

IDENTITY = {"program": "abc", "search": "grid", "files": {}}


def plan_value(**other: Any) -> dict[str, Any]:
    arguments = {
        "objective": "edge",
        "min_trades": 10,
        "search": "grid",
        "data": ["BTCUSDT_1m.csv"],
        "catalog": None,
    }
    value = {"format": 3, "command": "sweep", "sets": 10, "shards": 3}
    return value | {"arguments": arguments, "sweep": IDENTITY} | other


def figures(edge: float, won: int = 20) -> dict[str, Any]:
    return {"won": won, "lost": 0, "edge_lower": edge, "pnl": 3.0, "max_drawdown": 1.0}


def journal(shard: int, trials: range, edge: float = 0.01, shards: int = 3, **other: Any) -> bytes:
    lines: list[dict[str, Any]] = [{"sweep": IDENTITY | {"shard": [shard, shards]} | other}]
    lines += [{"trial": trial, "rung": 0, "figures": figures(edge + trial / 1000)} for trial in trials]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.fixture
def write_plan(tmp_path: Path) -> Callable[..., Path]:
    def write(**other: Any) -> Path:
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(plan_value(**other)))
        return path

    return write


@pytest.fixture
def plan(write_plan: Callable[..., Path]) -> Plan:
    return read_plan(write_plan())
