"""Statistics and stored candles equal those of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import polars
import pytest

import candlewick
from candlewick import data, edge
from candlewick._command import to_flags


def test_statistics_equal_those_of_the_command_line(run: Callable[..., str]) -> None:
    def of(*arguments: str) -> object:
        return json.loads(run("edge", *arguments, "--json"))

    assert edge.break_even(80, 85.5) == of("break-even", "80", "85.5")
    assert edge.plan(payout=85, points=[5, 10], paths=100) == of("plan", "--payout", "85", "--points", "5,10", "--paths", "100")
    martingale = ["--martingale", "5", "--levels", "6", "--balance", "1000", "--payout", "85"]
    assert edge.ruin(martingale=5, levels=6, balance=1000, payout=85) == of("ruin", *martingale)
    counts = ["--won", "580", "--lost", "420", "--payout", "85"]
    assert edge.verdict(won=580, lost=420, payout=85) == of("verdict", *counts)


def test_times_may_be_texts_numbers_and_objects() -> None:
    moment = datetime(2026, 1, 8, 12, tzinfo=timezone(timedelta(hours=2)))
    assert to_flags({"from_": moment, "to": date(2026, 1, 9)}) == ["--from", "2026-01-08 12:00:00+02:00", "--to", "2026-01-09"]
    assert to_flags({"from_": 1767866400, "holiday": ["2026-01-01"]}) == ["--from", "1767866400", "--holiday", "2026-01-01"]


def test_a_win_rate_at_break_even_earns_nothing() -> None:
    # p * 0.85 = 1 - p
    text = json.dumps(edge.break_even(85))
    assert "54.05" in text or "0.5405" in text


def test_candles_round_trip_through_files(candles: Path) -> None:
    frame = polars.read_csv(candles)
    for ending in ("csv", "parquet"):
        file = Path(f"copy.{ending}")
        data.write(frame, "BTCUSDT@1m", file)
        back = polars.DataFrame(data.read(f"BTCUSDT@1m={file}"))
        assert back.with_columns(polars.col("time").dt.epoch("ms")).equals(frame.select(back.columns))


def test_invalid_candles_are_reported() -> None:
    frame = polars.DataFrame({"time": [0, 60_000], "open": 1.0, "high": 1.0, "low": 1.0, "close": 1.0})
    assert len(data.check_table(frame, "BTCUSDT@1m")) == 2
    with pytest.raises(ValueError, match="is not a series"):
        data.check_table(frame, "BTCUSDT")
    with pytest.raises(ValueError, match="row 1"):
        data.check_table(frame.with_columns(time=polars.Series([0, 60_001])), "BTCUSDT@1m")
    with pytest.raises(ValueError, match="candle"):
        data.check_table(frame.reverse(), "BTCUSDT@1m")
    with pytest.raises(ValueError, match="column close has missing values"):
        data.check_table(frame.with_columns(close=polars.Series([1.0, None])), "BTCUSDT@1m")


def test_the_catalog_is_filled_and_listed(candles: Path) -> None:
    data.import_files(candles, catalog="store")
    assert "BTCUSDT" in json.dumps(data.series(catalog="store"))
    assert len(data.read("BTCUSDT@1m", catalog="store")) == 5760


def test_a_report_of_a_session_has_its_trades(candles: Path) -> None:
    candlewick.live(
        "ema-cross",
        sandbox=True,
        candles={"BTCUSDT@1m": str(candles)},
        close_type="05:00",
        speed="max",
        until_end=True,
        journal="run.db",
    )
    assert candlewick.report("run.db")["trades"] > 20
