"""pip install candlewick-*.whl numba pandas; python peer_candlewick.py candles.csv [candles]

Runs the workload as a strategy in Rust, as a column of signals, and as a Python object called for each candle. The trades are fixed-time
trades of five minutes, with a balance, risk rules, a result hash and a verdict. Measures the whole call, from arguments to the report. The
file of candles has been read before.
"""

import itertools
import os
import sys
import tempfile

import numpy as np

import work
from candlewick import Candle, ColumnStrategy, Signal, Strategy, Table, backtest, buy, sell

WARMUP = 295  # as in the strategy in Rust


class OnCandle(Strategy):
    """Wilder's RSI, candle by candle."""

    def __init__(self) -> None:
        self.previous = self.up = self.down = 0.0
        self.seen = 0

    def warmup(self) -> int:
        return WARMUP

    def on_candle(self, candle: Candle) -> Signal | None:
        close = candle.close
        change, self.previous = close - self.previous, close
        seen = self.seen
        self.seen = seen + 1
        if seen == 0:
            return None
        gain, loss = (change, 0.0) if change > 0.0 else (0.0, -change)
        if seen <= work.PERIOD:
            self.up += gain / work.PERIOD
            self.down += loss / work.PERIOD
            if seen < work.PERIOD:
                return None
        else:
            self.up += (gain - self.up) / work.PERIOD
            self.down += (loss - self.down) / work.PERIOD
        total = self.up + self.down
        rsi = 50.0 if total == 0.0 else 100.0 * self.up / total
        if rsi < work.LOW:
            return buy("oversold")
        return sell("overbought") if rsi > work.HIGH else None


class Columns(ColumnStrategy):
    """The same as a column, with the function of the peers."""

    checks_lookahead = False

    def warmup(self) -> int:
        return WARMUP

    def signals(self, candles: Table) -> np.ndarray:
        rsi = work.wilder_rsi(np.asarray(candles["close"]))
        return (rsi < work.LOW).astype(np.int8) - (rsi > work.HIGH)


class CheckedColumns(Columns):
    """The same with the look-ahead check, which computes it twelve more times."""

    checks_lookahead = True


frame = work.candles(work.count(1_000_000))
file = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())
with open(file) as lines, open("BTCUSDT_1m.csv", "w") as head:
    head.writelines(itertools.islice(lines, len(frame) + 1))
settings = {
    "risk": {"daily_loss_limit": 0.0, "max_drawdown_percent": 0.0, "max_trades_per_day": 0, "max_open_trades": 1},
    "account": {"initial_balance": 1e9},
    "variants": {"ledger": ""},
}


def run(strategy):
    return backtest(strategy, candles="BTCUSDT_1m.csv", close_type="05:00", settings=settings, progress=False)["trades"]


for name, strategy, rounds in [
    ("candlewick, Rust", "rsi-reversal", 5),
    ("candlewick, columns", Columns, 5),
    ("candlewick, columns, checked for looking ahead", CheckedColumns, 5),
    ("candlewick, on_candle", OnCandle, 3),
]:
    run(strategy)  # compiles, and caches the file
    work.measure(name, frame, lambda strategy=strategy: run(strategy), rounds, 0.01)
