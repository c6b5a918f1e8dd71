"""Columns of signals trade like the same strategy candle by candle, and look-ahead is rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest
from ported import Breakout, BreakoutColumns, Peeks

import candlewick
from candlewick import ColumnStrategy, Table


def trades(strategy: Any, candles: Path, **more: Any) -> polars.DataFrame:
    result = candlewick.backtest(strategy, candles={"BTCUSDT@1m": candles}, close_type="05:00", **more)
    return polars.DataFrame(result.trades).drop("bot")


@pytest.mark.parametrize("span", [20, 55])
def test_column_trades_like_its_candle_strategy(candles: Path, span: int) -> None:
    expected = trades(Breakout, candles, params={"span": span})
    assert expected.height > 50
    assert trades(BreakoutColumns, candles, params={"span": span}).equals(expected)


def test_column_with_look_ahead_is_rejected(candles: Path) -> None:
    with pytest.raises(candlewick.LookaheadError, match="looks ahead: for the candle of 2026-01-"):
        trades(Peeks, candles)
    table = candlewick.data.read(f"BTCUSDT@1m={candles}")
    with pytest.raises(candlewick.LookaheadError):
        candlewick.check_lookahead(Peeks, table)
    honest = candlewick.check_lookahead(BreakoutColumns, table)
    assert len(honest) == len(table)
    assert {-1, 0, 1} == set(honest)


def test_truncation_checks_all_candles(candles: Path) -> None:
    class Scaled(ColumnStrategy):
        """Compares with the mean of all candles, including future ones."""

        def warmup(self) -> int:
            return 1

        def signals(self, candles: Table) -> Any:
            close = np.asarray(candles["close"])
            return np.sign(close - close.mean())

    with pytest.raises(candlewick.LookaheadError):
        trades(Scaled, candles)


class Every(ColumnStrategy):
    """Buys at each 30th candle, with columns of different types."""

    way = ""

    def warmup(self) -> int:
        return 2

    def signals(self, candles: Table) -> Any:
        minutes = np.asarray(candles["time"]) // 60_000
        column = (minutes % 30 == 0).astype(np.int64)
        ways: dict[str, Any] = {
            "int64": column,
            "float": column.astype(float),
            "int8": column.astype(np.int8),
            "missing": np.where(column == 1, 1.0, np.nan),
            "list": column.tolist(),
            "polars": polars.Series(column),
            "polars null": polars.Series([1 if one else None for one in column], dtype=polars.Int8),
            "pyarrow": pyarrow.array(column, pyarrow.int32()),
            "chunked": pyarrow.chunked_array([column[:7], column[7:]]),
            "pandas": candlewick and __import__("pandas").Series(column),
            "short": column[:-1],
            "two": column * 2,
            "true": column == 1,
            "text": "buy",
        }
        return ways[type(self).way]


def test_column_may_come_from_any_library(candles: Path) -> None:
    made = []
    for way in ["int64", "float", "int8", "missing", "list", "polars", "polars null", "pyarrow", "chunked", "pandas"]:
        Every.way = way
        made.append(trades(Every, candles))
        assert made[-1].equals(made[0]), way
    assert made[0].height > 50


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ("short", "numbers for 5760 candles"),
        ("two", "returned 2 at 2026-01-05"),
        ("text", "an array, a column or a list"),
    ],
)
def test_invalid_columns_are_errors(candles: Path, way: str, problem: str) -> None:
    Every.way = way
    with pytest.raises((TypeError, ValueError), match=problem):
        trades(Every, candles)
