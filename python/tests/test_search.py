"""Searches over strategies in Python and Rust agree with single backtests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest
from ported import Breakout, BreakoutColumns

import candlewick


def sweep(strategy: Any, candles: Path, folder: str, **more: Any) -> polars.DataFrame:
    result = candlewick.sweep(
        strategy,
        search={"span": "10..40:10"},
        folder=folder,
        candles={"BTCUSDT@1m": candles},
        close_type="05:00",
        min_trades=5,
        **more,
    )
    assert result.folder == Path(folder)
    return polars.DataFrame(result.sets)


@pytest.mark.parametrize("strategy", [Breakout, BreakoutColumns])
def test_each_set_of_a_sweep_equals_its_backtest(candles: Path, strategy: Any) -> None:
    sets = sweep(strategy, candles, "sweep")
    assert sets["span"].to_list() == [10, 20, 30, 40]
    for row in sets.iter_rows(named=True):
        single = candlewick.backtest(strategy, candles={"BTCUSDT@1m": candles}, close_type="05:00", params={"span": row["span"]})
        assert (row["won"], row["lost"]) == (single["won"], single["lost"])


def test_sweep_resumes_in_its_folder(candles: Path) -> None:
    first = sweep(BreakoutColumns, candles, "sweep")
    begun = Path("sweep/trials.jsonl").read_bytes()
    assert sweep(BreakoutColumns, candles, "sweep").equals(first)
    assert Path("sweep/trials.jsonl").read_bytes() == begun


def test_walk_forward_trades_each_test_window(candles: Path) -> None:
    walked = candlewick.walk_forward(
        BreakoutColumns,
        search={"span": "10,20,40"},
        folder="walk",
        candles={"BTCUSDT@1m": candles},
        close_type="05:00",
        train="1d",
        test="12h",
        min_trades=5,
    )
    windows = polars.DataFrame(walked.windows)
    assert windows.height >= 2
    assert walked["windows"]


def test_class_of_a_prompt_is_rejected_in_other_processes(candles: Path) -> None:
    made: dict[str, Any] = {"__name__": "__main__"}
    source = Path(__file__).with_name("ported.py").read_text()
    exec(compile(source, "<prompt>", "exec"), made)
    typed = made["BreakoutColumns"]
    typed.__module__ = "a_prompt"
    with pytest.raises(candlewick.CandlewickError):
        sweep(typed, candles, "sweep")


def test_progress_callback_stops_a_grid(candles: Path) -> None:
    def stop(work: str, done: int, total: int) -> None:
        if work == "Sweeping":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        candlewick.sweep(
            "rsi-reversal",
            search={"period": "2..200", "oversold": "10..40", "overbought": "60..90"},
            folder="sweep",
            candles={"BTCUSDT@1m": candles},
            close_type="05:00",
            trials=20_000,
            progress=stop,
        )
    assert not Path("sweep/results.csv").exists()
