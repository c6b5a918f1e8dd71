"""pip install backtrader numba; python peer_backtrader.py candles.csv [candles]"""

import backtrader as bt

import work


class FixedTime(bt.Strategy):
    def __init__(self):
        self.rsi = bt.indicators.RSI_Safe(self.data.close, period=work.PERIOD)
        self.opened = None
        self.ended = 0

    def next(self):
        if self.position:
            if len(self) - self.opened == work.HOLD:
                self.close()
                self.ended += 1
        elif self.rsi[0] < work.LOW:
            self.opened = len(self)
            self.buy(size=1)
        elif self.rsi[0] > work.HIGH:
            self.opened = len(self)
            self.sell(size=1)


frame = work.candles(work.count(100_000))
naive = frame.tz_localize(None)


def run():
    cerebro = bt.Cerebro(stdstats=False)
    cerebro.broker.set_coc(True)
    cerebro.broker.setcash(1e9)
    cerebro.adddata(bt.feeds.PandasData(dataname=naive, timeframe=bt.TimeFrame.Minutes))
    cerebro.addstrategy(FixedTime)
    return cerebro.run()[0].ended


work.measure("backtrader", frame, run, 1)
