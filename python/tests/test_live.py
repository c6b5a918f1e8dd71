"""Live runs on the sandbox: parity with the backtest, and exceptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest
from ported import Breakout, BreakoutColumns, EmaCrossPort, Follows, Nonsense, Peeks, Raises

import candlewick
from candlewick import data


def live(strategy: Any, candles: Path, journal: str, **more: Any) -> candlewick.Run:
    return candlewick.live(
        strategy,
        sandbox=True,
        candles={"BTCUSDT@1m": str(candles)},
        close_type="05:00",
        speed="max",
        until_end=True,
        journal=journal,
        **more,
    )


@pytest.mark.parametrize("strategy", [EmaCrossPort, Breakout, BreakoutColumns])
def test_session_has_parity_and_the_trades_of_the_backtest(candles: Path, strategy: Any) -> None:
    run = live(strategy, candles, "run.db", trades="live.csv")
    assert (run["event"], run["stop"]) == ("ended", "data_ends")
    held = candlewick.parity("run.db", strategies=[strategy])
    assert held["unexplained"] == 0
    replayed = candlewick.backtest(strategy, candles={"BTCUSDT@1m": candles}, close_type="05:00", trades="backtest.csv")
    assert polars.DataFrame(run.trades).equals(polars.DataFrame(replayed.trades))
    made = Path("live.csv").read_text()
    assert len(made.splitlines()) > 20
    assert made == Path("backtest.csv").read_text()


def test_prices_between_candles_equal_those_of_the_backtest() -> None:
    # Prices come every five seconds, from candles of five seconds that also make up those of a minute.
    data.generate("BTCUSDT", interval="5s", days=1, seed=7, out=".")
    fine = polars.read_csv("BTCUSDT_5s.csv")
    within = fine.group_by(polars.col("time") // 60_000 * 60_000, maintain_order=True)
    column = polars.col
    coarse = within.agg(column("open").first(), column("high").max(), column("low").min(), column("close").last(), column("volume").sum())
    coarse.write_csv("BTCUSDT_1m.csv")
    candles = {"BTCUSDT@1m": "BTCUSDT_1m.csv", "BTCUSDT@5s": "BTCUSDT_5s.csv"}
    Follows.seen.clear()
    run = candlewick.live(Follows, sandbox=True, candles=candles, close_type="05:00", speed="max", until_end=True, journal="run.db")
    # Twelve per minute for a day.
    assert 17_000 < len(Follows.seen) <= 17_280
    assert candlewick.parity("run.db", strategies=[Follows])["unexplained"] == 0
    replayed = candlewick.backtest(Follows, candles=candles, close_type="05:00")
    traded = polars.DataFrame(run.trades)
    assert traded.height > 20
    assert traded.equals(polars.DataFrame(replayed.trades))


@pytest.mark.parametrize(("strategy", "error"), [(Raises, ZeroDivisionError), (Nonsense, TypeError)])
def test_exception_stops_the_run_without_further_trades(candles: Path, strategy: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        live(strategy, candles, "run.db")
    assert any("in on_candle of the bot" in note for note in caught.value.__notes__)
    listed, _ = candlewick._command.run_json(["trades", "--journal", "run.db"])
    frame = polars.DataFrame(listed["trades"] if isinstance(listed, dict) else listed)
    if strategy is Nonsense:
        assert frame.height == 0
    else:
        # The hundredth candle opens 99 minutes after the first. Earlier decisions remain.
        assert 0 < frame.height < 99


def test_a_column_that_looks_ahead_stops_a_live_run(candles: Path) -> None:
    with pytest.raises(candlewick.LookaheadError):
        live(Peeks, candles, "run.db")


def test_strategy_check_passes_both_kinds_and_finds_look_ahead() -> None:
    for strategy in (Breakout, BreakoutColumns, Follows):
        found = candlewick.strategy_check(strategy, seed=1, unseen=2000)
        assert found.document
    with pytest.raises(candlewick.CheckError, match="failed") as caught:
        candlewick.strategy_check(Peeks, seed=1, unseen=2000)
    assert "looks ahead" in str(caught.value.document)
