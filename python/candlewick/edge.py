"""Statistics of an edge, like ``candlewick edge``: break-even, required trades, risk of ruin and verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._command import Flag, check_flags, run_json, to_flags


def _edge(command: str, arguments: Sequence[str], flags: Mapping[str, Flag]) -> Any:
    check_flags(f"edge {command}", flags)
    return run_json(["edge", command, *arguments, *to_flags(flags)])[0]


def break_even(*payouts: float | str, win_rate: float | None = None) -> Any:
    """Returns the break-even win rate for payouts in percent, or the break-even payout of ``win_rate``."""
    return _edge("break-even", [str(payout) for payout in payouts], {"win_rate": win_rate})


def plan(*, payout: float | None = None, points: Sequence[float] | None = None, **flags: Flag) -> Any:
    """Returns the number of trades required to show an edge of ``points`` above break-even."""
    listed = ",".join(str(point) for point in points) if points else None
    return _edge("plan", [], {"payout": payout, "points": listed, **flags})


def ruin(**flags: Flag) -> Any:
    """Returns the risk of ruin: ``ruin(martingale=5, levels=6, balance=1000, payout=85)``."""
    return _edge("ruin", [], flags)


def verdict(*, trades: str | os.PathLike[str] | None = None, journal: str | os.PathLike[str] | None = None, **flags: Flag) -> Any:
    """Returns the verdict on trades from a ``backtest --trades`` file, a journal, or counts (``won=580, lost=420, payout=85``)."""
    named = {
        "trades": os.fspath(trades) if trades is not None else None,
        "journal": os.fspath(journal) if journal is not None else None,
    }
    return _edge("verdict", [], {**named, **flags})
