"""Backtests, searches and live runs for fixed-time trades, with strategies in Python.

>>> import candlewick
>>> result = candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": "BTCUSDT_1m.csv"}, close_type="05:00")
>>> import polars
>>> polars.DataFrame(result.trades)
"""

from . import data, edge
from ._api import (
    App,
    backtest,
    check_lookahead,
    live,
    paper,
    parity,
    report,
    strategy_check,
    sweep,
    walk_forward,
)
from ._errors import (
    CandlewickError,
    CheckError,
    ConfigurationError,
    DataError,
    JournalHeldError,
    LookaheadError,
    StoppedError,
    VenueError,
)
from ._native import Candle, Column, Price, Settlement, Signal, Table
from ._results import Backtest, Result, Run, Sweep, WalkForward
from ._strategy import Bot, ColumnStrategy, Strategy, buy, param, sell

__all__ = [
    "App",
    "Backtest",
    "Bot",
    "Candle",
    "CandlewickError",
    "CheckError",
    "Column",
    "ColumnStrategy",
    "ConfigurationError",
    "DataError",
    "JournalHeldError",
    "LookaheadError",
    "Price",
    "Result",
    "Run",
    "Settlement",
    "Signal",
    "StoppedError",
    "Strategy",
    "Sweep",
    "Table",
    "VenueError",
    "WalkForward",
    "backtest",
    "buy",
    "check_lookahead",
    "data",
    "edge",
    "live",
    "paper",
    "param",
    "parity",
    "report",
    "sell",
    "strategy_check",
    "sweep",
    "walk_forward",
]
