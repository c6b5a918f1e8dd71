"""Backtests in Python equal those of the command line, and other libraries read their tables."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

import candlewick

BOT = """[[bots]]
name = "rsi-reversal"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
close_type = "05:00"
"""
#: Recorded results of the command line, which the golden test of the repository compares too.
GOLDEN = Path(__file__).parents[2] / "tests/golden"
#: Values of clocks, which differ between runs.
CLOCK = re.compile(r'"(elapsed_ms|candles_per_second)": [0-9.]+')


def of_command_line(run: Callable[..., str], candles: Path) -> tuple[str, Path]:
    with elsewhere():
        Path("bot.toml").write_text(BOT)
        trades = Path("trades.csv").absolute()
        return run("backtest", "--config", "bot.toml", "--data", candles, "--json", "--quiet", "--trades", trades), trades


@contextmanager
def elsewhere() -> Iterator[None]:
    """Changes to a folder with its own evidence ledger, because a document contains the number of exploring runs."""
    folder = Path("elsewhere").absolute()
    folder.mkdir()
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / ".state"))
        yield


def without_clock(text: str) -> str:
    return CLOCK.sub(r'"\1": 0', text)


def test_document_equals_that_of_the_command_line(run: Callable[..., str], candles: Path) -> None:
    expected, _ = of_command_line(run, candles)
    result = candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, close_type="05:00")
    assert without_clock(result.json) == without_clock(expected)
    assert result.document == json.loads(result.json)
    assert result["trades"] > 50


def differences(recorded: Any, found: Any, path: str = "") -> list[str]:
    """JSON pointers at which a document differs from its recording. Recorded texts and clocks are masked; notices may change."""
    if recorded in ("<text>", "<volatile>") or path == "/notices":
        return []
    if isinstance(recorded, dict) and isinstance(found, dict):
        both = [one for key in recorded.keys() & found.keys() for one in differences(recorded[key], found[key], f"{path}/{key}")]
        return both + [f"{path}/{key}" for key in recorded.keys() ^ found.keys()]
    if isinstance(recorded, list) and isinstance(found, list):
        pairs = enumerate(zip(recorded, found, strict=False))
        both = [one for at, pair in pairs for one in differences(*pair, f"{path}/{at}")]
        return both + ([] if len(recorded) == len(found) else [f"{path}/*"])
    return [] if recorded == found else [path]


def unexpected_differences(recorded: Any, found: Any, file: str) -> list[str]:
    return [pointer for pointer in differences(recorded, found) if not is_allowed(pointer, file)]


def is_allowed(pointer: str, file: str) -> bool:
    """Whether `allowed.toml` permits a value at this pointer of a document to differ from the base file."""
    rows = tomllib.loads((GOLDEN / "allowed.toml").read_text())["row"]
    patterns = [row["pointer"].removeprefix("/commands/*/stdout") for row in rows if fnmatchcase(file, row["file"])]
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), pointer) for pattern in patterns)


@pytest.mark.parametrize(("name", "days", "to"), [("plain", 2, {"to": "2026-01-05T10:00"}), ("vote", 1, {})])
def test_results_equal_the_recorded_ones(name: str, days: int, to: dict[str, Any]) -> None:
    file = f"backtest-{name}.json"
    recorded = json.loads((GOLDEN / "base" / file).read_text())
    candlewick.data.generate("BTCUSDT", days=days, seed=1)
    result = candlewick.backtest(settings=str(GOLDEN / f"inputs/{name}.toml"), candles="BTCUSDT_1m.csv", **to)
    document = recorded["commands"][-1]["stdout"]
    assert unexpected_differences(document, result.document, file) == []
    assert len(result.trades) == document["trades"] > 10
    assert unexpected_differences({**document, "pnl": document["pnl"] + 1}, result.document, file) == ["/pnl"]


@pytest.mark.parametrize("kind", ["pandas", "pandas index", "polars", "pyarrow", "duckdb", "own"])
def test_candles_of_tables_equal_those_of_the_file(run: Callable[..., str], candles: Path, kind: str) -> None:
    expected, _ = of_command_line(run, candles)
    frame = pandas.read_csv(candles)
    frame["time"] = pandas.to_datetime(frame["time"], unit="ms", utc=True)
    tables: dict[str, Callable[[], Any]] = {
        "pandas": lambda: frame,
        "pandas index": lambda: frame.set_index("time").rename_axis(None),
        "polars": lambda: polars.read_csv(candles),
        "pyarrow": lambda: pyarrow.Table.from_pandas(frame),
        "duckdb": lambda: duckdb.sql(f"select * from read_csv('{candles}')"),
        "own": lambda: candlewick.data.read(f"BTCUSDT@1m={candles}"),
    }
    result = candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": tables[kind]()}, close_type="05:00")
    assert without_clock(result.json) == without_clock(expected)


def test_libraries_read_the_same_trades_as_the_csv(run: Callable[..., str], candles: Path) -> None:
    _, file = of_command_line(run, candles)
    trades = candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, close_type="05:00").trades
    written = pandas.read_csv(file, dtype=str, keep_default_na=False)
    found = duckdb.sql("select * from trades")
    assert found is not None
    read = {
        "pandas": pandas.DataFrame.from_arrow(trades),
        "polars": polars.DataFrame(trades).to_pandas(),
        "pyarrow": pyarrow.table(trades).to_pandas(),
        "duckdb": found.df(),
    }
    for name, frame in read.items():
        assert len(frame) == len(written) == len(trades) > 50, name
        for column in ["bot", "symbol", "direction", "close_type", "expiration_type", "result", "reason"]:
            assert frame[column].tolist() == written[column].tolist(), (name, column)
        for column in ["amount", "pnl"]:
            exact = [Decimal(str(one)) for one in frame[column]]
            assert exact == [Decimal(one) for one in written[column]], (name, column)
        for column in ["open_price", "close_price", "payout", "answered_payout"]:
            assert frame[column].tolist() == [float(one) for one in written[column]], (name, column)
        for column in ["decision_time", "open_time", "close_time", "payout_known", "result_known"]:
            millis = [round(one.timestamp() * 1000) for one in frame[column]]
            assert millis == [int(one) for one in written[column]], (name, column)


def test_tables_are_shared_and_not_copied(candles: Path) -> None:
    table = candlewick.data.read(f"BTCUSDT@1m={candles}")
    first, second = (pyarrow.table(table)["close"].chunk(0).buffers()[1].address for _ in range(2))
    assert first == second
    close = np.asarray(table["close"])
    assert close.ctypes.data == first
    assert not close.flags.writeable
    assert close.tolist() == polars.read_csv(candles)["close"].to_list()
    assert np.asarray(table["time"]).tolist() == polars.read_csv(candles)["time"].to_list()
    del table
    assert close[-1] > 0, "a column outlives its table"
    assert polars.Series(candlewick.data.read(f"BTCUSDT@1m={candles}")["close"]).to_list() == close.tolist()


def test_settings_are_files_or_mappings(candles: Path) -> None:
    Path("bot.toml").write_text(BOT)
    bot = {"name": "rsi-reversal", "symbol": "BTCUSDT", "interval": "1m", "strategy": "rsi-reversal", "close_type": "05:00"}
    of_file = candlewick.backtest(settings="bot.toml", candles=str(candles))
    with elsewhere():
        of_mapping = candlewick.backtest(settings={"bots": [bot]}, candles=[str(candles)])
    assert without_clock(of_file.json) == without_clock(of_mapping.json)
    limited = candlewick.backtest(settings={"bots": [bot], "risk": {"max_trades_per_day": 3}}, candles=str(candles))
    assert 0 < limited["trades"] < of_file["trades"]


def test_errors_have_the_message_and_help_of_the_command_line(candles: Path) -> None:
    def backtest(strategy: str, candles: dict[str, Any], **more: Any) -> None:
        candlewick.backtest(strategy, candles=candles, close_type="05:00", **more)

    with pytest.raises(candlewick.ConfigurationError, match="close_type is missing"):
        candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles})
    with pytest.raises(candlewick.ConfigurationError, match="did you mean") as caught:
        backtest("rsi-reversl", {"BTCUSDT@1m": candles})
    assert caught.value.code == 2
    with pytest.raises(candlewick.ConfigurationError, match="period"):
        backtest("rsi-reversal", {"BTCUSDT@1m": candles}, params={"period": 1})
    with pytest.raises(candlewick.DataError, match=r"missing\.csv"):
        backtest("rsi-reversal", {"BTCUSDT@1m": "missing.csv"})
    with pytest.raises(candlewick.ConfigurationError, match="unknown keyword no_such_flag="):
        backtest("rsi-reversal", {"BTCUSDT@1m": candles}, no_such_flag=True)
    for wrong, meant in [("close_typ", "close_type"), ("expiry", "close_type"), ("timeframe", "interval"), ("sensitivty", "sensitivity")]:
        arguments: dict[str, Any] = {wrong: "05:00"}
        with pytest.raises(candlewick.ConfigurationError, match=f"unknown keyword {wrong}=") as caught:
            candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, **arguments)
        assert caught.value.help == f"did you mean {meant}=?"
    with pytest.raises(candlewick.ConfigurationError, match="unknown keyword payot="):
        candlewick.edge.verdict(won=580, lost=420, payot=85)
    frame = polars.read_csv(candles)
    with pytest.raises(ValueError, match="has no column close"):
        backtest("rsi-reversal", {"BTCUSDT@1m": frame.drop("close")})
    with pytest.raises(ValueError, match="row 0 of the table: close"):
        backtest("rsi-reversal", {"BTCUSDT@1m": frame.with_columns(close=polars.lit(-1.0))})
    with pytest.raises(TypeError, match="is not a table of candles"):
        backtest("rsi-reversal", {"BTCUSDT@1m": 7})


def test_notebook_shows_the_verdict_and_escapes_html(candles: Path) -> None:
    result = candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, close_type="05:00")
    shown = result._repr_html_()
    assert "verdict" in shown
    assert str(result["trades"]) in shown
    hostile = candlewick.Result({"name": "<script>"}, "{}")._repr_html_()
    assert "<script>" not in hostile
    assert "&lt;script&gt;" in hostile


def test_progress_callback_is_called_and_its_exception_stops_the_command(candles: Path) -> None:
    def stop(work: str, done: int, total: int) -> None:
        assert 0 <= done <= total
        raise LookupError(work)

    seen: list[tuple[str, int, int]] = []
    candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, progress=lambda *now: seen.append(now), close_type="05:00")
    assert seen
    with pytest.raises(LookupError):
        candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, progress=stop, close_type="05:00")
