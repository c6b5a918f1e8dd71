"""Writes fx.csv and crypto.csv: synthetic candles with the values of TA-Lib. See README.md."""

import csv
from pathlib import Path

import numpy as np
import talib

COUNT = 300
START_MS = 1_735_689_600_000  # 2025-01-01 00:00 UTC
MINUTE_MS = 60_000


def candles(seed, start, tick, move, flat, jump):
    """Generates a random walk in ticks with two regimes, one flat stretch and one jump."""
    rng = np.random.default_rng(seed)
    rows, close = [], round(start / tick)
    for i in range(COUNT):
        opened = close + (jump if i == 230 else int(rng.integers(-1, 2)))
        if i in flat:
            opened = close
            high = low = close
        else:
            steps = np.cumsum(rng.standard_t(4, 12) * move / tick * (0.15 if i < 120 else 0.45))
            path = opened + np.concatenate([[0.0], np.round(steps)])
            high, low, close = int(path.max()), int(path.min()), int(path[-1])
        rows.append([round(x * tick, 8) for x in (opened, high, low, close)])
    return np.array(rows), rng


def figures(prices):
    high, low, close = (np.ascontiguousarray(prices[:, i]) for i in (1, 2, 3))
    macd, signal, histogram = talib.MACD(close, 12, 26, 9)
    upper, middle, lower = talib.BBANDS(close, 20, 2.0, 2.0, talib.MA_Type.SMA)
    k, d = talib.STOCH(high, low, close, 14, 3, talib.MA_Type.SMA, 3, talib.MA_Type.SMA)
    return {
        "sma": talib.SMA(close, 20), "ema": talib.EMA(close, 20), "rsi": talib.RSI(close, 14),
        "macd": macd, "macd_signal": signal, "macd_histogram": histogram,
        "bollinger_upper": upper, "bollinger_middle": middle, "bollinger_lower": lower,
        "atr": talib.ATR(high, low, close, 14), "stochastic_k": k, "stochastic_d": d,
        "adx": talib.ADX(high, low, close, 14),
        "plus_di": talib.PLUS_DI(high, low, close, 14), "minus_di": talib.MINUS_DI(high, low, close, 14),
        "cci": talib.CCI(high, low, close, 20),
    }


def write(name, prices, volumes, gap):
    columns = figures(prices)
    with (Path(__file__).parent / name).open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["time", "open", "high", "low", "close", "volume", *columns])
        for i, row in enumerate(prices):
            time = START_MS + (i + (gap if i >= 200 else 0)) * MINUTE_MS
            values = [column[i] for column in columns.values()]
            out.writerow([time, *map(float, row), float(volumes[i]),
                          *("" if np.isnan(v) else repr(float(v)) for v in values)])


fx, _ = candles(seed=11, start=1.0850, tick=0.00001, move=0.0001, flat=range(150, 195), jump=85)
write("fx.csv", fx, np.zeros(COUNT), gap=2_880)
crypto, rng = candles(seed=12, start=60_000.0, tick=0.01, move=25.0, flat=range(165, 205), jump=-120_000)
volumes = np.round(rng.lognormal(1.0, 1.0, COUNT), 3)
volumes[160:210] = 0.0
write("crypto.csv", crypto, volumes, gap=0)
