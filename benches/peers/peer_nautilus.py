"""pip install nautilus_trader numba; python peer_nautilus.py candles.csv [candles]"""

from decimal import Decimal

from nautilus_trader.backtest.config import BacktestEngineConfig
from nautilus_trader.backtest.engine import BacktestEngine
from nautilus_trader.config import LoggingConfig
from nautilus_trader.indicators import MovingAverageType, RelativeStrengthIndex
from nautilus_trader.model.currencies import USDT
from nautilus_trader.model.data import BarType
from nautilus_trader.model.enums import AccountType, OmsType, OrderSide
from nautilus_trader.model.identifiers import Venue
from nautilus_trader.model.objects import Money
from nautilus_trader.persistence.wranglers import BarDataWrangler
from nautilus_trader.test_kit.providers import TestInstrumentProvider
from nautilus_trader.trading.strategy import Strategy

import work

INSTRUMENT = TestInstrumentProvider.btcusdt_binance()
BARS = BarType.from_str(f"{INSTRUMENT.id}-1-MINUTE-LAST-EXTERNAL")


class FixedTime(Strategy):
    def on_start(self):
        self.rsi = RelativeStrengthIndex(work.PERIOD, MovingAverageType.WILDER)
        self.register_indicator_for_bars(BARS, self.rsi)
        self.seen = self.opened = self.ended = 0
        self.side = None
        self.subscribe_bars(BARS)

    def on_bar(self, bar):
        self.seen += 1
        if self.side is not None:
            if self.seen - self.opened == work.HOLD:
                self.send(OrderSide.SELL if self.side == OrderSide.BUY else OrderSide.BUY)
                self.side = None
                self.ended += 1
        elif self.rsi.initialized and not work.LOW / 100 <= self.rsi.value <= work.HIGH / 100:
            self.side = OrderSide.BUY if self.rsi.value < work.LOW / 100 else OrderSide.SELL
            self.opened = self.seen
            self.send(self.side)

    def send(self, side):
        quantity = INSTRUMENT.make_qty(Decimal("0.01"))
        self.submit_order(self.order_factory.market(INSTRUMENT.id, side, quantity))


frame = work.candles(work.count(100_000))
bars = BarDataWrangler(BARS, INSTRUMENT).process(frame[["open", "high", "low", "close", "volume"]])


def run():
    engine = BacktestEngine(BacktestEngineConfig(logging=LoggingConfig(bypass_logging=True), run_analysis=False))
    engine.add_venue(Venue("BINANCE"), OmsType.NETTING, AccountType.MARGIN, [Money(1e9, USDT)])
    engine.add_instrument(INSTRUMENT)
    engine.add_data(bars)
    strategy = FixedTime()
    engine.add_strategy(strategy)
    engine.run()
    ended = strategy.ended
    engine.dispose()
    return ended


# nautilus_trader seeds the RSI differently.
work.measure("nautilus_trader", frame, run, 2, allowed=0.01)
