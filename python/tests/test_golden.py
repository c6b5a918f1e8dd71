"""Results in Python equal those recorded in the golden references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
from ported import BreakoutColumns, EmaCrossPort

import candlewick

RECORDED = Path(__file__).parents[2] / "tests/golden/base/python.json"
FIGURES = ("trades", "won", "lost", "draw", "win_rate", "break_even", "pnl", "final_balance", "max_drawdown", "verdict")


def rows(table: Any) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in polars.DataFrame(table).to_dict(as_series=False).items()}


def backtest(strategy: Any, candles: Path, **parameters: Any) -> dict[str, Any]:
    result = candlewick.backtest(strategy, candles={"BTCUSDT@1m": candles}, close_type="05:00", params=parameters)
    return {"figures": {name: result.document.get(name) for name in FIGURES}, "trades": rows(result.trades)}


def results(candles: Path) -> dict[str, Any]:
    sweep = candlewick.sweep(
        BreakoutColumns,
        search={"span": "10..40:10"},
        folder="sweep",
        candles={"BTCUSDT@1m": candles},
        close_type="05:00",
        min_trades=5,
    )
    return {
        "built in": backtest("rsi-reversal", candles, period=5),
        "candles": backtest(EmaCrossPort, candles),
        "columns": backtest(BreakoutColumns, candles, span=20),
        "sweep": rows(sweep.sets),
    }


def test_results_equal_the_golden_reference(candles: Path) -> None:
    found = results(candles)
    recorded = json.loads(RECORDED.read_text())
    assert found.keys() == recorded.keys()
    for name, document in recorded.items():
        assert found[name] == document, name
