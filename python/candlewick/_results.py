"""Results of commands: the JSON document, tables, and their display in a notebook."""

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
        f"<tr><th style='{_STYLE}'>{html.escape(name)}</th><td style='{_STYLE}'>{html.escape(_render(value))}</td></tr>"
        for name, value in pairs
        if value is not None
    )
    return f"<table>{''.join(cells)}</table>"


def _render(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, list | tuple):
        return " to ".join(_render(one) for one in value)
    return str(value)


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


class Result:
    """Result of a command. ``result["key"]`` reads its JSON document."""

    _title = "Result"

    def __init__(self, document: Mapping[str, Any], json_text: str) -> None:
        #: JSON document, as printed by ``--json``.
        self.document = document
        #: Text of the JSON document, as printed by the command line.
        self.json = json_text

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def _figures(self) -> Iterable[tuple[str, Any]]:
        return ((key, value) for key, value in self.document.items() if isinstance(value, str | int | float))

    def _repr_html_(self) -> str:
        notices = _list(str(one) for one in self.document.get("notices", []))
        return f"<b>{html.escape(self._title)}</b>{_rows(self._figures())}{notices}"

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={_render(value)}" for name, value in self._figures() if value is not None)
        return f"{type(self).__name__}({figures})"


class Backtest(Result):
    """Result of a backtest, with its trades."""

    _title = "Backtest"

    def __init__(self, document: Mapping[str, Any], json_text: str, trades: Table) -> None:
        super().__init__(document, json_text)
        #: Arrow table of all trades by decision time, for pandas, Polars, DuckDB and pyarrow.
        self.trades = trades

    def _figures(self) -> Iterable[tuple[str, Any]]:
        return _figures_of_run(self.document)


class Run(Backtest):
    """Result of a run on a demo wallet, the embedded sandbox or paper, with its trades."""

    _title = "Run"


def _figures_of_run(document: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    keys = ("trades", "won", "lost", "draw", "win_rate", "break_even", "pnl", "final_balance", "max_drawdown")
    yield "headline", document.get("headline")
    yield "verdict", str(document.get("verdict", "")).replace("_", " ")
    for key in keys:
        yield key.replace("_", " "), document.get(key)
    for label in document.get("edge", {}).get("labels", []):
        yield "verdict label", label


class Sweep(Result):
    """Result of a search, with its parameter sets."""

    _title = "Sweep"

    def __init__(self, document: Mapping[str, Any], json_text: str, folder: Path, sets: Table) -> None:
        super().__init__(document, json_text)
        #: Folder of the journal and the results. The same search resumes there.
        self.folder = folder
        #: Arrow table of all parameter sets with their results.
        self.sets = sets


class WalkForward(Result):
    """Result of a walk-forward, with its windows."""

    _title = "Walk-forward"

    def __init__(self, document: Mapping[str, Any], json_text: str, folder: Path, windows: Table) -> None:
        super().__init__(document, json_text)
        #: Folder of the journals and the results.
        self.folder = folder
        #: Arrow table of the windows, each with its chosen parameter set and the result of the test.
        self.windows = windows


def text_of(document: Any) -> str:
    """Renders a document on one line."""
    return json.dumps(document, ensure_ascii=False)
