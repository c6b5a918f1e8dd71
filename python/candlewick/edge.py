"""Statistics of an edge: break-even, trades needed, risk of ruin, verdict on trades. As ``candlewick edge``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._command import Flag, ask, check_flags, flags_of


def _edge(command: str, arguments: Sequence[str], flags: Mapping[str, Flag]) -> Any:
    check_flags(f"edge {command}", flags)
    return ask(["edge", command, *arguments, *flags_of(flags)])[0]


def break_even(*payouts: float | str, win_rate: float | None = None) -> Any:
    """The win rate at which a payout (in percent) neither earns nor costs; or the payout at which a win rate does."""
    return _edge("break-even", [str(payout) for payout in payouts], {"win_rate": win_rate})


def plan(*, payout: float | None = None, points: Sequence[float] | None = None, **flags: Flag) -> Any:
    """How many trades it takes to show an edge of so many points above break-even."""
    listed = ",".join(str(point) for point in points) if points else None
    return _edge("plan", [], {"payout": payout, "points": listed, **flags})


def ruin(**flags: Flag) -> Any:
    """How probably stakes run out of money: ``ruin(martingale=5, levels=6, balance=1000, payout=85)``."""
    return _edge("ruin", [], flags)


def verdict(*, trades: str | os.PathLike[str] | None = None, journal: str | os.PathLike[str] | None = None, **flags: Flag) -> Any:
    """What trades say of an edge: those of a file of ``backtest --trades``, of a journal, or counts (``won=580, lost=420, payout=85``)."""
    named = {
        "trades": os.fspath(trades) if trades is not None else None,
        "journal": os.fspath(journal) if journal is not None else None,
    }
    return _edge("verdict", [], {**named, **flags})
