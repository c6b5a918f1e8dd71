"""pip install backtesting numba; python peer_backtesting.py candles.csv [candles]"""

from backtesting import Backtest, Strategy

import work


class FixedTime(Strategy):
    def init(self):
        self.rsi = self.I(work.wilder_rsi, self.data.Close.astype(float))

    def next(self):
        if self.trades:
            trade = self.trades[0]
            # The trade was opened at the close of the candle before `entry_bar`.
            if len(self.data) - 1 - trade.entry_bar >= work.HOLD:
                trade.close()
        elif self.rsi[-1] < work.LOW:
            self.buy(size=1)
        elif self.rsi[-1] > work.HIGH:
            self.sell(size=1)


frame = work.candles(work.count(1_000_000))
data = frame.rename(columns=str.capitalize)
data.index = data.index.tz_localize(None)


def run():
    backtest = Backtest(data, FixedTime, cash=1e9, trade_on_close=True, finalize_trades=False)
    return len(backtest.run()._trades)


work.measure("backtesting.py", frame, run, 3)
