"""Strategies in Python decide like their Rust originals, and exceptions end a run."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import polars
import pytest
from ported import EmaCrossPort, Nonsense, Raises, RsiReversalPort

import candlewick


def trades(strategy: Any, candles: Path, **more: Any) -> polars.DataFrame:
    result = candlewick.backtest(strategy, candles={"BTCUSDT@1m": candles}, close_type="05:00", **more)
    return polars.DataFrame(result.trades).drop("bot")


@pytest.mark.parametrize("params", [{}, {"fast": 3, "slow": 8}])
def test_ema_cross_port_trades_like_the_builtin(candles: Path, params: dict[str, int]) -> None:
    expected = trades("ema-cross", candles, params=params)
    assert expected.height > 20
    # Including reasons with all digits.
    assert trades(EmaCrossPort, candles, params=params).equals(expected)


@pytest.mark.parametrize("params", [{}, {"period": 7, "oversold": 25.0}])
def test_rsi_reversal_port_trades_like_the_builtin(candles: Path, params: dict[str, Any]) -> None:
    expected = trades("rsi-reversal", candles, params=params)
    assert expected.height > 20
    assert trades(RsiReversalPort, candles, params=params).equals(expected)


def test_exception_ends_a_backtest_with_its_location(candles: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="the hundredth") as caught:
        trades(Raises, candles)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ZeroDivisionError("the hundredth")' in text
    assert "in on_candle of the bot raises, at 2026-01-05" in text


def test_invalid_return_value_is_an_error(candles: Path) -> None:
    with pytest.raises(TypeError, match=r"on_candle returned 'buy' of type str: return None, candlewick\.buy"):
        trades(Nonsense, candles)


def test_too_many_different_reasons_are_rejected(candles: Path) -> None:
    class Talks(candlewick.Strategy):
        def warmup(self) -> int:
            return 1

        def on_candle(self, candle: candlewick.Candle) -> candlewick.Signal:
            return candlewick.buy(f"at {candle.close}")

    with pytest.raises(ValueError, match="named numbers"):
        trades(Talks, candles)


def test_annotated_attributes_are_parameters(candles: Path) -> None:
    with pytest.raises(candlewick.ConfigurationError, match=r"fast = 30 must be below slow = 21"):
        trades(EmaCrossPort, candles, params={"fast": 30})
    with pytest.raises(candlewick.ConfigurationError, match=r"period.*2 to 500"):
        trades(RsiReversalPort, candles, params={"period": 1})
    with pytest.raises(candlewick.ConfigurationError, match='did you mean "period"'):
        trades(RsiReversalPort, candles, params={"perod": 1})

    class Listed(candlewick.Strategy):
        levels: list[int] = []  # noqa: RUF012

    class Missing(candlewick.Strategy):
        period: int

    for cls, problem in [(Listed, "which is not a type of parameters"), (Missing, "needs a default")]:
        with pytest.raises(candlewick.ConfigurationError, match=problem):
            trades(cls, candles)
    with pytest.raises(candlewick.ConfigurationError, match="is not a strategy"):
        trades(int, candles)


def test_invalid_signals_are_rejected_on_creation() -> None:
    with pytest.raises(ValueError, match="change is NaN"):
        candlewick.buy("rose", change=float("nan"))
    with pytest.raises(ValueError, match="at most 4"):
        candlewick.sell("fell", a=1, b=2, c=3, d=4, e=5)
    with pytest.raises(ValueError, match="close_type"):
        candlewick.buy("rose", close_type="soon")


def test_longer_candles_settlements_and_own_expiry_arrive(candles: Path) -> None:
    told: list[Any] = []

    class Listens(candlewick.Strategy):
        longer_intervals = ("5m",)
        close_types = ("10:00",)

        def warmup(self) -> int:
            return 10

        def on_candle(self, candle: candlewick.Candle) -> candlewick.Signal | None:
            return candlewick.buy("on the hour", close_type="10:00") if candle.time % 3_600_000 == 0 else None

        def on_longer_candle(self, interval: str, candle: candlewick.Candle) -> None:
            told.append((interval, candle.time))

        def on_settled(self, settlement: candlewick.Settlement) -> None:
            told.append(settlement.outcome)

    made = trades(Listens, candles)
    assert set(made["close_type"]) == {"10:00"}
    settled = [one for one in told if isinstance(one, str)]
    assert settled == made["result"].to_list()
    longer = [one for one in told if not isinstance(one, str)]
    assert len(longer) > 1000
    assert all(interval == "5m" and time % 300_000 == 0 for interval, time in longer)
