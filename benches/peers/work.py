"""Workload of all peers, and a plain loop as the reference.

Wilder's RSI(14) over the closes of one-minute candles. If no trade is open at a close, buys below 30 and sells above 70 at
that close. The trade ends at the close five candles later; the next one may open after that. There are no costs.
"""

import sys
import time

import numpy as np
import pandas as pd
from numba import njit

PERIOD, LOW, HIGH, HOLD = 14, 30.0, 70.0, 5


def candles(count):
    """Reads the first `count` candles of the file from the command line."""
    frame = pd.read_csv(sys.argv[1], nrows=count)
    frame.index = pd.to_datetime(frame.pop("time"), unit="ms", utc=True)
    return frame


def count(default):
    return int(sys.argv[2]) if len(sys.argv) > 2 else default


@njit(cache=True)
def wilder_rsi(close):
    out = np.full(close.size, np.nan)
    up = down = 0.0
    for i in range(1, close.size):
        change = close[i] - close[i - 1]
        gain, loss = max(change, 0.0), max(-change, 0.0)
        if i <= PERIOD:
            up, down = up + gain / PERIOD, down + loss / PERIOD
        else:
            up, down = up + (gain - up) / PERIOD, down + (loss - down) / PERIOD
        if i >= PERIOD:
            out[i] = 50.0 if up + down == 0.0 else 100.0 * up / (up + down)
    return out


@njit(cache=True)
def signals(rsi):
    """Returns 1 and -1 where a trade opens, 2 and -2 where it ends."""
    out = np.zeros(rsi.size, np.int8)
    i = 0
    while i + HOLD < rsi.size:
        side = 1 if rsi[i] < LOW else -1 if rsi[i] > HIGH else 0
        if side == 0:
            i += 1
            continue
        out[i] = side if out[i] == 0 else out[i]
        out[i + HOLD] = 2 * side
        i += HOLD + 1
    return out


@njit(cache=True)
def by_hand(close):
    """Returns the number of trades and of wins: the reference."""
    rsi = wilder_rsi(close)
    trades = won = 0
    i = 0
    while i + HOLD < close.size:
        side = 1 if rsi[i] < LOW else -1 if rsi[i] > HIGH else 0
        if side == 0:
            i += 1
            continue
        trades += 1
        won += (close[i + HOLD] - close[i]) * side > 0.0
        i += HOLD + 1
    return trades, won


def measure(name, frame, run, rounds, allowed=0.0):
    """Runs peer and reference alternately and prints the best times. `allowed` is the tolerated relative difference of their
    numbers of trades, as some peers seed the RSI differently."""
    close = frame["close"].to_numpy(np.float64)
    expected = by_hand(close)
    peer, floor = [], []
    for _ in range(rounds):
        for times, call in ((floor, lambda: by_hand(close)), (peer, run)):
            begin = time.perf_counter()
            found = call()
            times.append(time.perf_counter() - begin)
    peer, floor = (min(times) / len(close) * 1e9 for times in (peer, floor))
    print(f"{name}: {peer:,.1f} ns per candle, {found} trades; reference {floor:.2f} ns, {expected[0]} trades; "
          f"ratio {peer / floor:,.0f}; {len(close)} candles, best of {rounds}")
    if abs(found - expected[0]) > allowed * expected[0]:
        sys.exit(f"{name} made {found} trades, not {expected[0]}")
