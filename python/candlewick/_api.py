"""Functions for backtests, searches, live runs and checks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._command import Flag, check_flags, run_json, show, to_flags
from ._progress import Progress
from ._results import Backtest, Result, Run, Sweep, WalkForward
from ._settings import Candles, Settings, build_bot, command_flags
from ._strategy import AnyStrategy, Bot, ColumnStrategy, Strategy, build_instance, strategy_name

Bots = Sequence[Mapping[str, Any]]

#: Keywords of the functions that create a bot.
_KEYWORDS = (
    "strategy",
    "candles",
    "symbol",
    "interval",
    "close_type",
    "params",
    "stake",
    "settings",
    "strategies",
    "progress",
    "folder",
    "way",
)


def _classes(strategy: AnyStrategy | str | None, strategies: Sequence[AnyStrategy]) -> list[AnyStrategy]:
    own = [] if strategy is None or isinstance(strategy, str) else [strategy]
    return [*own, *(one for one in strategies if one not in own)]


def _bots(
    strategy: AnyStrategy | str | None,
    symbol: str | None,
    interval: str | None,
    candles: Candles,
    **bot: Any,
) -> list[dict[str, Any]]:
    if strategy is None:
        return []
    if isinstance(candles, Mapping) and len(candles) == 1 and symbol is None and interval is None:
        symbol, _, interval = next(iter(candles)).rpartition("@")
    return [build_bot(strategy, symbol=symbol or "BTCUSDT", interval=interval or "1m", **bot)]


def backtest(
    strategy: AnyStrategy | str | None = None,
    *,
    candles: Candles = None,
    symbol: str | None = None,
    interval: str | None = None,
    close_type: str | None = None,
    params: Mapping[str, Any] | None = None,
    stake: float | Mapping[str, Any] | None = None,
    settings: Settings = None,
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
    **flags: Flag,
) -> Backtest:
    """Replays candles through a strategy, or through the bots of ``settings``.

    ``strategy`` is a class or the name of a built-in strategy. It runs as a single bot, by default on the only series of ``candles``.
    Without ``strategy``, the bots are those of ``settings``; list the classes that they use in ``strategies``. ``close_type`` is the
    duration of a trade, such as ``"05:00"`` for five minutes. ``stake`` is an amount in the currency of the wallet. Without
    ``candles``, uses those in the catalog, or two weeks of synthetic ones. Other keyword arguments are flags of
    ``candlewick backtest``: ``html="report.html"``, ``sensitivity=True``, ``from_="2026-01-01"``.

    The replay ends before the sealed day. Only ``candlewick confirm`` and live or paper trading can show an edge.

    Releases the GIL, and stops on Ctrl-C. Raises :class:`CandlewickError`, or the exception of the strategy.
    """
    check_flags("backtest", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    with command_flags(settings, bots, candles) as given:
        arguments = ["backtest", *given, *to_flags(flags)]
        document, answer = run_json(arguments, _classes(strategy, strategies), progress)
    assert answer.trades is not None, "a backtest returns its trades"
    return Backtest(document, answer.output, answer.trades)


def sweep(
    strategy: AnyStrategy | str | None = None,
    *,
    search: Mapping[str, str | None] | Sequence[str],
    folder: str | os.PathLike[str] = "sweep",
    candles: Candles = None,
    symbol: str | None = None,
    interval: str | None = None,
    close_type: str | None = None,
    params: Mapping[str, Any] | None = None,
    stake: float | Mapping[str, Any] | None = None,
    settings: Settings = None,
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
    **flags: Flag,
) -> Sweep:
    """Backtests many parameter sets: ``search={"period": "5..30:5", "level": "20,25,30"}``. ``None`` selects the whole range.

    A search that was stopped resumes in its ``folder``. Other arguments are those of :func:`backtest`, or flags of ``candlewick sweep``:
    ``trials=500``, ``objective="sharpe"``, ``way="tpe"`` (the flag ``--search``), ``where="slow > 2 * fast"``.

    The best of many sets is partly luck. Only ``candlewick confirm`` and live or paper trading can show an edge.
    """
    check_flags("sweep", flags.keys() - {"way"}, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    arguments = ["sweep", *_searched(search), "--out", os.fspath(folder), *_search_flags(flags)]
    with command_flags(settings, bots, candles) as given:
        document, answer = run_json([*arguments, *given], _classes(strategy, strategies), progress)
    sets = _native.read_csv(Path(folder) / "results.csv")
    return Sweep(document, answer.output, Path(folder), sets)


def walk_forward(
    strategy: AnyStrategy | str | None = None,
    *,
    search: Mapping[str, str | None] | Sequence[str],
    folder: str | os.PathLike[str] = "walk-forward",
    candles: Candles = None,
    symbol: str | None = None,
    interval: str | None = None,
    close_type: str | None = None,
    params: Mapping[str, Any] | None = None,
    stake: float | Mapping[str, Any] | None = None,
    settings: Settings = None,
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
    **flags: Flag,
) -> WalkForward:
    """Chooses parameters on past candles and tests them on later ones, window by window.

    Other arguments are those of :func:`sweep`, or flags of ``candlewick walk-forward``: ``train="90d"``, ``test="30d"``, ``anchored=True``.

    All windows end before the sealed day. Only ``candlewick confirm`` and live or paper trading can show an edge.
    """
    check_flags("walk-forward", flags.keys() - {"way"}, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    arguments = ["walk-forward", *_searched(search), "--out", os.fspath(folder), *_search_flags(flags)]
    with command_flags(settings, bots, candles) as given:
        document, answer = run_json([*arguments, *given], _classes(strategy, strategies), progress)
    windows = _native.read_csv(Path(folder) / "windows.csv")
    return WalkForward(document, answer.output, Path(folder), windows)


def _searched(search: Mapping[str, str | None] | Sequence[str]) -> list[str]:
    pairs = search.items() if isinstance(search, Mapping) else ((one, None) for one in search)
    return [part for name, values in pairs for part in ("--param", f"{name}={values}" if values else name)]


def _search_flags(flags: Mapping[str, Flag]) -> list[str]:
    return to_flags({"search" if name == "way" else name: value for name, value in flags.items()})


def live(
    strategy: AnyStrategy | str | None = None,
    *,
    sandbox: bool = False,
    candles: Candles = None,
    symbol: str | None = None,
    interval: str | None = None,
    close_type: str | None = None,
    params: Mapping[str, Any] | None = None,
    stake: float | Mapping[str, Any] | None = None,
    settings: Settings = None,
    strategies: Sequence[AnyStrategy] = (),
    **flags: Flag,
) -> Run:
    """Runs a strategy, or the bots of ``settings``, on the demo wallet of a venue; with ``sandbox=True`` on the embedded sandbox.

    Other arguments are those of :func:`backtest`, or flags of ``candlewick live``: ``journal="run.db"``, ``speed="max"``,
    ``until_end=True``, ``for_="10m"``. Ctrl-C waits for open trades and returns the result. An exception of the strategy also stops the run
    and is raised. No trade is opened after it.
    """
    check_flags("live", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    flags = {"sandbox": sandbox, **flags}
    with command_flags(settings, bots, candles) as given:
        arguments = ["live", *given, *to_flags(flags)]
        document, answer = run_json(arguments, _classes(strategy, strategies), False)
    assert answer.trades is not None, "a run that has ended returns its trades"
    return Run(document, answer.output, answer.trades)


def paper(
    strategy: AnyStrategy | str | None = None,
    *,
    symbol: str | None = None,
    interval: str | None = None,
    close_type: str | None = None,
    params: Mapping[str, Any] | None = None,
    stake: float | Mapping[str, Any] | None = None,
    settings: Settings = None,
    strategies: Sequence[AnyStrategy] = (),
    **flags: Flag,
) -> Run:
    """Runs a strategy on the candles and prices of a venue with simulated trades. Arguments are those of :func:`live`."""
    check_flags("paper", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, None, close_type=close_type, params=params, stake=stake)
    with command_flags(settings, bots, None) as given:
        document, answer = run_json(["paper", *given, *to_flags(flags)], _classes(strategy, strategies), False)
    assert answer.trades is not None, "a run that has ended returns its trades"
    return Run(document, answer.output, answer.trades)


def parity(journal: str | os.PathLike[str], *, strategies: Sequence[AnyStrategy] = (), **flags: Flag) -> Result:
    """Replays a recorded session with the same strategies, and compares decisions and outcomes with the journal."""
    check_flags("parity", flags, ("journal", "strategies"))
    arguments = ["parity", "--journal", os.fspath(journal), *to_flags(flags)]
    document, answer = run_json(arguments, strategies)
    return Result(document, answer.output)


def report(journal: str | os.PathLike[str], *, html: str | os.PathLike[str] | None = None, **flags: Flag) -> Result:
    """Returns the report of a recorded session. ``html`` also writes it as a page."""
    check_flags("report", flags, ("journal", "html"))
    page = os.fspath(html) if html is not None else None
    arguments = ["report", "--journal", os.fspath(journal), *to_flags({"html": page, **flags})]
    document, answer = run_json(arguments)
    return Result(document, answer.output)


def strategy_check(
    strategy: AnyStrategy | str,
    *,
    candles: Candles = None,
    params: Mapping[str, Any] | None = None,
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
    **flags: Flag,
) -> Result:
    """Checks the rules for strategies, such as no look-ahead and no shared state. Raises :class:`CheckError` if one is violated.

    A :class:`ColumnStrategy` is checked with :func:`check_lookahead` first.
    """
    check_flags("strategy check", flags, _KEYWORDS)
    name = strategy if isinstance(strategy, str) else strategy_name(strategy)
    given = [part for key, value in (params or {}).items() for part in ("--param", f"{key}={value}")]
    with command_flags(None, [], candles) as named:
        arguments = ["strategy", "check", name, *given, *named, *to_flags(flags)]
        document, answer = run_json(arguments, _classes(strategy, strategies), progress)
    return Result({"checks": document} if isinstance(document, list) else document, answer.output)


def check_lookahead(
    strategy: type[ColumnStrategy],
    candles: Any,
    *,
    interval: str = "1m",
    params: Mapping[str, Any] | None = None,
    truncations: int = 12,
) -> list[int]:
    """Computes the column of signals from all candles, and again from candles that end earlier.

    Returns the signals of all candles. Raises :class:`LookaheadError` at the first candle whose signal changes with later candles.
    """
    made = build_instance(strategy, params or {}, Bot(strategy_name(strategy), "BTCUSDT", interval, interval))
    return _native.check_lookahead(made.signals, candles, interval, truncations)


class App:
    """A command line program with your own strategies in addition to the built-in ones.

    Add these lines to the file of a strategy to run it as a program with every command::

        if __name__ == "__main__":
            raise SystemExit(App().with_strategy(Momentum).run())
    """

    def __init__(self, strategies: Sequence[AnyStrategy] = ()) -> None:
        self._strategies = list(strategies)

    def with_strategy(self, strategy: type[Strategy] | type[ColumnStrategy]) -> App:
        """Returns the program with one more strategy."""
        return App([*self._strategies, strategy])

    def run(self, arguments: Sequence[str] | None = None) -> int:
        """Runs a command and returns its exit code. Raises exceptions of strategies. Default arguments are those of the process."""
        return show(sys.argv[1:] if arguments is None else list(arguments), self._strategies)
