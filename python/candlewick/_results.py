"""What came of a run, as Python has it: the command's document, its tables, and a look of it in a notebook."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._native import Table

_STYLE = "text-align:left;padding:2px 12px 2px 0"


def _rows(pairs: Iterable[tuple[str, Any]]) -> str:
    cells = (
        f"<tr><th style='{_STYLE}'>{html.escape(name)}</th><td style='{_STYLE}'>{html.escape(_words(value))}</td></tr>"
        for name, value in pairs
        if value is not None
    )
    return f"<table>{''.join(cells)}</table>"


def _words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, list | tuple):
        return " to ".join(_words(one) for one in value)
    return str(value)


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


class Result:
    """What a command answered."""

    _title = "Result"

    def __init__(self, document: Mapping[str, Any], json_text: str) -> None:
        #: The document of ``--json``.
        self.document = document
        #: The same, as the command line prints it.
        self.json = json_text

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def _figures(self) -> Iterable[tuple[str, Any]]:
        return ((key, value) for key, value in self.document.items() if isinstance(value, str | int | float))

    def _repr_html_(self) -> str:
        notices = _list(str(one) for one in self.document.get("notices", []))
        return f"<b>{html.escape(self._title)}</b>{_rows(self._figures())}{notices}"

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={_words(value)}" for name, value in self._figures() if value is not None)
        return f"{type(self).__name__}({figures})"


class Backtest(Result):
    """A backtest: its figures, and its trades as a table."""

    _title = "Backtest"

    def __init__(self, document: Mapping[str, Any], json_text: str, trades: Table) -> None:
        super().__init__(document, json_text)
        #: All trades, ordered by decision time: pandas, Polars, DuckDB and pyarrow take it as it is.
        self.trades = trades

    def _figures(self) -> Iterable[tuple[str, Any]]:
        return _figures_of_run(self.document)


class Run(Backtest):
    """A run that traded, on a demo wallet, the embedded venue or paper: its figures, and its trades as a table."""

    _title = "Run"


def _figures_of_run(document: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    keys = ("trades", "won", "lost", "draw", "win_rate", "break_even", "pnl", "final_balance", "max_drawdown")
    yield "headline", document.get("headline")
    yield "verdict", str(document.get("verdict", "")).replace("_", " ")
    for key in keys:
        yield key.replace("_", " "), document.get(key)
    for label in document.get("edge", {}).get("labels", []):
        yield "verdict is", label


class Sweep(Result):
    """A search: what its sets came to, and the folder of its files."""

    _title = "Sweep"

    def __init__(self, document: Mapping[str, Any], json_text: str, folder: Path, sets: Table) -> None:
        super().__init__(document, json_text)
        #: Where its journal and results are; the same search goes on from there.
        self.folder = folder
        #: Every set with its parameters and figures.
        self.sets = sets


class WalkForward(Result):
    """Parameters that were chosen on past candles and tested on those after them."""

    _title = "Walk-forward"

    def __init__(self, document: Mapping[str, Any], json_text: str, folder: Path, windows: Table) -> None:
        super().__init__(document, json_text)
        #: Where its journals and results are.
        self.folder = folder
        #: Each window with the set that it chose, and what that came to on the test.
        self.windows = windows


def text_of(document: Any) -> str:
    """A document on one line, for people."""
    return json.dumps(document, ensure_ascii=False)
