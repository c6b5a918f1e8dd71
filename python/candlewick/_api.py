"""Backtests, searches, live runs and what belongs to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._command import Flag, ask, check_flags, flags_of, show
from ._progress import Progress
from ._results import Backtest, Result, Run, Sweep, WalkForward
from ._settings import Candles, Settings, bot_of, prepared
from ._strategy import AnyStrategy, Bot, ColumnStrategy, Strategy, made_of, name_of

Bots = Sequence[Mapping[str, Any]]

#: Keywords of the functions that make a bot.
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
    return [bot_of(strategy, symbol=symbol or "BTCUSDT", interval=interval or "1m", **bot)]


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

    ``strategy`` is a class or the name of a built-in one; one bot of it is made, on the only series of ``candles`` unless ``symbol`` and
    ``interval`` say otherwise. Without it the bots are those of ``settings``, and ``strategies`` are classes that they name. Without
    ``candles`` they are those of the catalog, else two weeks of synthetic ones. Other keyword arguments are flags of
    ``candlewick backtest``: ``html="report.html"``, ``sensitivity=True``, ``from_="2026-01-01"``.

    The interpreter's lock is released meanwhile, and Ctrl-C obeyed.
    """
    check_flags("backtest", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    with prepared(settings, bots, candles) as given:
        arguments = ["backtest", *given, *flags_of(flags)]
        document, answer = ask(arguments, _classes(strategy, strategies), progress)
    assert answer.trades is not None, "a backtest hands its trades over"
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
    """Searches parameters: ``search={"period": "5..30:5", "level": "20,25,30"}``; ``None`` as values is the whole range.

    Stopped, it goes on in its ``folder`` where it was. Other keyword arguments are flags of ``candlewick sweep``: ``trials=500``,
    ``objective="sharpe"``, ``way="tpe"`` (its ``--search``), ``where="slow > 2 * fast"``.
    """
    check_flags("sweep", flags.keys() - {"way"}, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    arguments = ["sweep", *_searched(search), "--out", os.fspath(folder), *_search_flags(flags)]
    with prepared(settings, bots, candles) as given:
        document, answer = ask([*arguments, *given], _classes(strategy, strategies), progress)
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
    """Chooses parameters on past candles and tests them on those that came after, window by window.

    Other keyword arguments are flags of ``candlewick walk-forward``: ``train="90d"``, ``test="30d"``, ``anchored=True``,
    ``open_hold_out=True``.
    """
    check_flags("walk-forward", flags.keys() - {"way"}, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    arguments = ["walk-forward", *_searched(search), "--out", os.fspath(folder), *_search_flags(flags)]
    with prepared(settings, bots, candles) as given:
        document, answer = ask([*arguments, *given], _classes(strategy, strategies), progress)
    windows = _native.read_csv(Path(folder) / "windows.csv")
    return WalkForward(document, answer.output, Path(folder), windows)


def _searched(search: Mapping[str, str | None] | Sequence[str]) -> list[str]:
    pairs = search.items() if isinstance(search, Mapping) else ((one, None) for one in search)
    return [part for name, values in pairs for part in ("--param", f"{name}={values}" if values else name)]


def _search_flags(flags: Mapping[str, Flag]) -> list[str]:
    return flags_of({"search" if name == "way" else name: value for name, value in flags.items()})


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
    """Runs a strategy, or the bots of ``settings``, against a venue's demo wallet; with ``sandbox=True`` against the embedded one.

    Other keyword arguments are flags of ``candlewick live``: ``journal="run.db"``, ``speed="max"``, ``until_end=True``, ``for_="10m"``.
    Ctrl-C stops it cleanly, and its answer is what came of it. An exception of the strategy stops it, too, and is raised: nothing is
    traded on what it did not decide.
    """
    check_flags("live", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, candles, close_type=close_type, params=params, stake=stake)
    flags = {"sandbox": sandbox, **flags}
    with prepared(settings, bots, candles) as given:
        arguments = ["live", *given, *flags_of(flags)]
        document, answer = ask(arguments, _classes(strategy, strategies), False)
    assert answer.trades is not None, "a run that has ended hands its trades over"
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
    """Runs a strategy on a venue's candles and prices with simulated trades; as :func:`live`."""
    check_flags("paper", flags, _KEYWORDS)
    bots = _bots(strategy, symbol, interval, None, close_type=close_type, params=params, stake=stake)
    with prepared(settings, bots, None) as given:
        document, answer = ask(["paper", *given, *flags_of(flags)], _classes(strategy, strategies), False)
    assert answer.trades is not None, "a run that has ended hands its trades over"
    return Run(document, answer.output, answer.trades)


def parity(journal: str | os.PathLike[str], *, strategies: Sequence[AnyStrategy] = (), **flags: Flag) -> Result:
    """Replays a recorded session with the same strategies, and compares decisions and outcomes."""
    check_flags("parity", flags, ("journal", "strategies"))
    arguments = ["parity", "--journal", os.fspath(journal), *flags_of(flags)]
    document, answer = ask(arguments, strategies)
    return Result(document, answer.output)


def report(journal: str | os.PathLike[str], *, html: str | os.PathLike[str] | None = None, **flags: Flag) -> Result:
    """The report of a recorded session; with ``html`` as a page, too."""
    check_flags("report", flags, ("journal", "html"))
    page = os.fspath(html) if html is not None else None
    arguments = ["report", "--journal", os.fspath(journal), *flags_of({"html": page, **flags})]
    document, answer = ask(arguments)
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
    """Holds a strategy to everything that every strategy must hold. Raises :class:`CheckError` where it does not.

    A class of columns is held to its own truncations first: :func:`check_lookahead` with candles of its own.
    """
    check_flags("strategy check", flags, _KEYWORDS)
    name = strategy if isinstance(strategy, str) else name_of(strategy)
    given = [part for key, value in (params or {}).items() for part in ("--param", f"{key}={value}")]
    with prepared(None, [], candles) as named:
        arguments = ["strategy", "check", name, *given, *named, *flags_of(flags)]
        document, answer = ask(arguments, _classes(strategy, strategies), progress)
    return Result({"checks": document} if isinstance(document, list) else document, answer.output)


def check_lookahead(
    strategy: type[ColumnStrategy],
    candles: Any,
    *,
    interval: str = "1m",
    params: Mapping[str, Any] | None = None,
    truncations: int = 12,
) -> list[int]:
    """Computes a column of signals of all candles, and again of candles that end earlier.

    Raises :class:`LookaheadError` at the first candle whose signal changes with those after it; else answers with the signals of all.
    """
    made = made_of(strategy, params or {}, Bot(name_of(strategy), "BTCUSDT", interval, interval))
    return _native.check_lookahead(made.signals, candles, interval, truncations)


class App:
    """A command line program, and the strategies that it knows besides the built-in ones.

    The last lines of a file that holds a strategy make it a program with every command::

        if __name__ == "__main__":
            raise SystemExit(App().with_strategy(Momentum).run())
    """

    def __init__(self, strategies: Sequence[AnyStrategy] = ()) -> None:
        self._strategies = list(strategies)

    def with_strategy(self, strategy: type[Strategy] | type[ColumnStrategy]) -> App:
        """The same with one more strategy."""
        return App([*self._strategies, strategy])

    def run(self, arguments: Sequence[str] | None = None) -> int:
        """Does what the arguments say, those of the process when left out. The exit code. An exception of a strategy is raised."""
        return show(sys.argv[1:] if arguments is None else list(arguments), self._strategies)
