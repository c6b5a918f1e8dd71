"""pip install freqtrade numba; python peer_freqtrade.py candles.csv [candles]

freqtrade requests the markets of an exchange before it starts. This script passes an exchange with one market, so it runs without a
network. Short trades need futures.
"""

import logging
import tempfile
from pathlib import Path

import pandas as pd
import talib.abstract as ta
from freqtrade.configuration import TimeRange
from freqtrade.enums import RunMode
from freqtrade.exchange import Exchange
from freqtrade.optimize.backtesting import Backtesting
from freqtrade.strategy import IStrategy

import work

PAIR = "BTC/USDT:USDT"
NO_LIMIT = {"min": None, "max": None}


class PeerFreqtrade(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "1m"
    can_short = True
    # Exits at the open after HOLD minutes at any profit: the close five candles after the signal.
    minimal_roi = {str(work.HOLD): -1}
    stoploss = -0.99
    use_exit_signal = False

    def populate_indicators(self, dataframe, metadata):
        dataframe["rsi"] = ta.RSI(dataframe, timeperiod=work.PERIOD)
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        dataframe.loc[dataframe["rsi"] < work.LOW, "enter_long"] = 1
        dataframe.loc[dataframe["rsi"] > work.HIGH, "enter_short"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        return dataframe


class Offline(Exchange):
    """An exchange of one market without limits, fees or funding."""

    def __init__(self, config):
        super().__init__(config, validate=False)
        self._markets = {PAIR: {
            "symbol": PAIR, "type": "swap", "base": "BTC", "quote": "USDT", "active": True,
            "spot": False, "swap": True, "linear": True, "inverse": False, "contractSize": 1.0,
            # Only for the liquidation price. The fee of a trade is set below.
            "taker": 0.0005, "precision": {"amount": 1e-8, "price": 0.01},
            "limits": {"amount": NO_LIMIT, "cost": NO_LIMIT, "leverage": NO_LIMIT},
        }}
        self._leverage_tiers = {PAIR: [{
            "minNotional": 0.0, "maxNotional": None, "maxLeverage": 1.0,
            "maintenanceMarginRate": 0.0, "maintAmt": 0.0,
        }]}

    def calculate_funding_fees(self, *_, **__):
        return 0.0


def config(folder):
    return {
        "runmode": RunMode.BACKTEST, "dry_run": True, "trading_mode": "futures", "margin_mode": "isolated",
        "exchange": {"name": "binance", "pair_whitelist": [PAIR], "pair_blacklist": []},
        "pairlists": [{"method": "StaticPairList"}], "stake_currency": "USDT", "stake_amount": 1_000.0,
        "dry_run_wallet": 1e9, "max_open_trades": 1, "fee": 0.0, "timeframe": "1m", "export": "none",
        "strategy": PeerFreqtrade.__name__, "strategy_path": str(Path(__file__).parent),
        "user_data_dir": folder, "datadir": folder, "dataformat_ohlcv": "feather",
        "entry_pricing": {"price_side": "same", "use_order_book": False},
        "exit_pricing": {"price_side": "same", "use_order_book": False},
    }


def main():
    logging.disable(logging.WARNING)
    frame = work.candles(work.count(100_000))
    data = {PAIR: frame.rename_axis("date").reset_index().astype({"volume": float})}
    with tempfile.TemporaryDirectory() as folder:
        settings = config(Path(folder))
        backtesting = Backtesting(settings, Offline(settings))
        # Normally set when files are read.
        backtesting.funding_fee_timeframe_secs = 8 * 3600
        backtesting.futures_data = {PAIR: pd.DataFrame()}

        def run():
            strategy = backtesting.strategylist[0]
            backtesting.backtest_one_strategy(strategy, data, TimeRange())
            return len(backtesting.all_bt_content[PeerFreqtrade.__name__]["results"])

        # freqtrade may reverse at the candle that ends a trade; the loop waits for the next one.
        work.measure("freqtrade", frame, run, 2, allowed=0.001)


# The strategy resolver imports this file again.
if __name__ == "__main__":
    main()
