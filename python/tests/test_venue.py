"""Paper runs, prices and fetched candles of a venue in another process."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from polars.testing import assert_frame_equal
from ported import Follows

import candlewick
from candlewick import data

SECOND = 1_000
#: Seconds of candles before and after the start of the venue.
SPAN = (600, 900)


class Venue:
    """A running sandbox and its candles."""

    def __init__(self, said: dict[str, Any], candles: polars.DataFrame) -> None:
        self.url, self.candles = said["base_url"], candles
        self.credentials = {"CANDLEWICK_BROKER__API_TOKEN": said["token"], "CANDLEWICK_BROKER__API_KEY": said["api_key"]}

    @property
    def settings(self) -> dict[str, Any]:
        broker = {"base_url": self.url, "price_url": self.url, "requests_per_second": 0}
        return {"broker": broker, "runtime": {"price_every_ms": SECOND}, "simulation": {"latency_ms": 0, "open_rounding": "none"}}


@pytest.fixture
def venue(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Venue]:
    now = int(time.time()) * SECOND
    seconds = polars.Series(range(-SPAN[0], SPAN[1]))
    opens, closes = (100 + (second * second) % 7 for second in (seconds, seconds + 1))
    frame = polars.DataFrame({"time": now + seconds * SECOND, "open": opens, "close": closes})
    frame = frame.with_columns(high=polars.max_horizontal("open", "close"), low=polars.min_horizontal("open", "close"), volume=1)
    file = tmp_path / "BTCUSDT_1s.csv"
    frame.select("time", "open", "high", "low", "close", "volume").write_csv(file)
    arguments = ["sandbox", "--json", "--listen", "127.0.0.1:0", "--speed", "1", "--start", str(now + SECOND), "--data", str(file)]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert process.stdout is not None
        served = Venue(json.loads(process.stdout.readline()), frame)
        for name, value in served.credentials.items():
            monkeypatch.setenv(name, value)
        yield served
    finally:
        process.kill()
        process.wait()
        process.communicate()


def test_paper_run_trades_on_venue_candles_and_replays(venue: Venue) -> None:
    Follows.seen.clear()
    run = candlewick.paper(Follows, settings=venue.settings, interval="5s", close_type="00:05", for_="20s", journal="run.db", stake=5)
    assert run["event"] == "ended"
    trades = polars.DataFrame(run.trades)
    assert trades.height > 0
    assert set(trades["amount"].cast(float)) == {5.0}
    # All prices are between 100 and 106.
    assert len(Follows.seen) > 3
    assert all(100 <= value <= 106 for value in Follows.seen)
    held = candlewick.parity("run.db", strategies=[Follows])
    assert held["unexplained"] == 0


def test_fetched_candles_equal_those_of_the_venue(venue: Venue) -> None:
    settings = Path("venue.toml")
    settings.write_text(f'[broker]\nbase_url = "{venue.url}"\nprice_url = "{venue.url}"\nrequests_per_second = 0\n')
    begin = int(venue.candles["time"][100])
    end = begin + 300 * SECOND
    data.fetch("BTCUSDT@1s", from_=begin, to=end, catalog="store", config=str(settings))
    fetched = polars.DataFrame(data.read("BTCUSDT@1s", catalog="store")).with_columns(polars.col("time").dt.epoch("ms"))
    expected = venue.candles.filter(polars.col("time").is_between(begin, end, closed="left")).select(fetched.columns)
    assert_frame_equal(fetched, expected, check_dtypes=False)
    assert fetched.height == 300


def test_unreachable_venue_is_an_error() -> None:
    settings = Path("venue.toml")
    settings.write_text('[broker]\nbase_url = "http://127.0.0.1:1"\nprice_url = "http://127.0.0.1:1"\nread_attempts = 1\n')
    with pytest.raises(candlewick.CandlewickError) as caught:
        data.fetch("BTCUSDT@1m", from_="2026-01-05", to="2026-01-06", catalog="store", config=str(settings))
    assert caught.value.code in (2, 4)
