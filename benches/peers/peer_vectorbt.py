"""pip install vectorbt; python peer_vectorbt.py candles.csv [candles]

vectorbt has no trades of fixed length: the loop over the RSI that finds the opens also finds the closes.
"""

import vectorbt as vbt

import work

frame = work.candles(work.count(1_000_000))
close = frame["close"]


def run():
    found = work.signals(work.wilder_rsi(close.to_numpy()))
    portfolio = vbt.Portfolio.from_signals(
        close, found == 1, found == 2, found == -1, found == -2,
        size=1.0, init_cash=1e9, freq="1min",
    )
    return int(portfolio.trades.closed.count())


# The first call compiles.
run()
work.measure("vectorbt", frame, run, 5)
