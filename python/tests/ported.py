"""Python ports of built-in strategies, and faulty strategies."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

import candlewick
from candlewick import Candle, Price, Signal, Table, buy, param, sell


class Smoothing:
    """Exponential average that starts with a simple mean."""

    def __init__(self, period: int, length: int, left_out: int = 0) -> None:
        self.weight = 2.0 / (length + 1)
        self.kept = 1.0 - self.weight
        self.period, self.missing, self.mean = period, period + left_out, 0.0

    def update(self, value: float) -> float | None:
        if self.missing > 0:
            self.missing -= 1
            if self.missing >= self.period:
                return None
            self.mean += value
            if self.missing > 0:
                return None
            self.mean /= self.period
            return self.mean
        self.mean = self.weight * value + self.kept * self.mean
        return self.mean

    def memory(self) -> int:
        return math.ceil(math.log(1e-9) / math.log(1.0 - self.weight))


class EmaCrossPort(candlewick.Strategy):
    """Follows the crossing of two averages."""

    fast: int = param(9, min=1, max=500)
    slow: int = param(21, min=2, max=1000)

    def __init__(self) -> None:
        if self.fast >= self.slow:
            raise ValueError(f"fast = {self.fast} must be below slow = {self.slow}")
        self.averages = [Smoothing(period, period) for period in (self.fast, self.slow)]
        self.before: int | None = None

    def warmup(self) -> int:
        return self.slow + self.averages[1].memory() + 1

    def on_candle(self, candle: Candle) -> Signal | None:
        fast, slow = (average.update(candle.close) for average in self.averages)
        if fast is None or slow is None:
            return None
        to = 0 if abs(fast - slow) <= 1e-12 * slow else (1 if fast > slow else -1)
        before, self.before = self.before, to
        if before is None or to == before or to == 0:
            return None
        return buy("crossed above", fast=fast, slow=slow) if to > 0 else sell("crossed below", fast=fast, slow=slow)


class Follows(candlewick.Strategy):
    """Follows prices between candle closes that differ from the last close."""

    #: All prices received in this process.
    seen: ClassVar[list[float]] = []

    def __init__(self) -> None:
        self.close: float | None = None

    def warmup(self) -> int:
        return 1

    def on_candle(self, candle: Candle) -> Signal | None:
        self.close = candle.close
        return None

    def on_price(self, price: Price) -> Signal | None:
        Follows.seen.append(price.value)
        if self.close is None or self.close == price.value:
            return None
        return buy("rises") if price.value > self.close else sell("falls")


class RsiReversalPort(candlewick.Strategy):
    """Bets on a return from an extreme of Wilder's index."""

    period: int = param(14, min=2, max=500)
    oversold: float = param(30.0, min=0, max=100)
    overbought: float = param(70.0, min=0, max=100)

    def __init__(self) -> None:
        self.previous = 0.0
        self.gains, self.losses = (Smoothing(self.period, 2 * self.period - 1, 1) for _ in range(2))
        self.last: float | None = None

    def warmup(self) -> int:
        return self.period + 1 + self.gains.memory()

    def on_candle(self, candle: Candle) -> Signal | None:
        change, self.previous = candle.close - self.previous, candle.close
        gain = max(change, 0.0)
        up, down = self.gains.update(gain), self.losses.update(gain - change)
        if up is None or down is None:
            return None
        self.last = 100.0 * (up / (up + down)) if up + down > 0 else 50.0
        if self.last < self.oversold:
            return buy("oversold", rsi=self.last, level=self.oversold)
        if self.last > self.overbought:
            return sell("overbought", rsi=self.last, level=self.overbought)
        return None

    def indicators(self) -> dict[str, float]:
        return {} if self.last is None else {"rsi": self.last}


class Breakout(candlewick.Strategy):
    """Buys above the highest previous close, sells below the lowest."""

    span: int = param(20, min=2, max=500)

    def __init__(self) -> None:
        self.closes: list[float] = []

    def warmup(self) -> int:
        return self.span + 1

    def on_candle(self, candle: Candle) -> Signal | None:
        before = self.closes[-self.span :]
        self.closes.append(candle.close)
        if len(before) < self.span:
            return None
        if candle.close > max(before):
            return buy("signal column")
        return sell("signal column") if candle.close < min(before) else None


class BreakoutColumns(candlewick.ColumnStrategy):
    """Like ``Breakout``, as whole columns."""

    span: int = param(20, min=2, max=500)

    def warmup(self) -> int:
        return self.span + 1

    def signals(self, candles: Table) -> Any:
        close = np.asarray(candles["close"])
        signals = np.zeros(len(close), dtype=np.int8)
        if len(close) > self.span:
            windows = np.lib.stride_tricks.sliding_window_view(close, self.span)[:-1]
            now = close[self.span :]
            signals[self.span :] = np.where(now > windows.max(axis=1), 1, np.where(now < windows.min(axis=1), -1, 0))
        return signals


class Peeks(candlewick.ColumnStrategy):
    """Looks at the next close."""

    def warmup(self) -> int:
        return 1

    def signals(self, candles: Table) -> Any:
        close = np.asarray(candles["close"])
        return np.sign(np.append(close[1:], close[-1]) - close)


class Raises(candlewick.Strategy):
    """Divides by zero at the hundredth candle."""

    at: int = 100

    def __init__(self) -> None:
        self.seen = 0

    def warmup(self) -> int:
        return 1

    def on_candle(self, candle: Candle) -> Signal | None:
        self.seen += 1
        if self.seen == self.at:
            raise ZeroDivisionError("the hundredth")
        return buy("always")


class Nonsense(candlewick.Strategy):
    """Returns an invalid value."""

    def warmup(self) -> int:
        return 1

    def on_candle(self, candle: Candle) -> Any:
        return "buy"
