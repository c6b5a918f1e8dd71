"""Stored candles, like ``candlewick data``: read, write, fetch, import, check and export."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._command import Flag, check_flags, run_json, to_flags
from ._native import Table
from ._progress import Progress


def read(name: str | os.PathLike[str], *, catalog: str | os.PathLike[str] = "data") -> Table:
    """Reads candles from a file (``BTCUSDT_1m.csv``, ``BTCUSDT@1m=PATH``) or from the catalog (``BTCUSDT@1m``)."""
    return _native.read_candles(os.fspath(name), Path(catalog))


def check_table(table: Any, series: str) -> Table:
    """Checks the candles of a DataFrame or Arrow table: valid prices, order, and alignment to the interval."""
    return _native.check_candles(table, series)


def write(table: Any, series: str, path: str | os.PathLike[str]) -> None:
    """Writes candles to a ``.csv`` or ``.parquet`` file that every command can read."""
    _native.write_candles(table, series, Path(path))


def _data(command: str, arguments: Sequence[str], flags: Mapping[str, Flag], progress: Progress = None) -> Any:
    check_flags(f"data {command}", flags)
    return run_json(["data", command, *arguments, *to_flags(flags)], (), progress)[0]


def generate(symbol: str, **flags: Flag) -> Any:
    """Generates synthetic candles: ``generate("BTCUSDT", days=30, out=".")``."""
    return _data("generate", [], {"symbol": symbol, **flags})


def fetch(*series: str, progress: Progress = None, **flags: Flag) -> Any:
    """Fetches candles from the venue into the catalog: ``fetch("BTCUSDT@1m", from_="2026-01-01")``."""
    return _data("fetch", series, flags, progress)


def import_files(*files: str | os.PathLike[str], progress: Progress = None, **flags: Flag) -> Any:
    """Imports candles from other programs and sources into the catalog."""
    return _data("import", [os.fspath(file) for file in files], flags, progress)


def check(*names: str | os.PathLike[str], **flags: Flag) -> Any:
    """Checks stored candles for problems, such as gaps."""
    return _data("check", [os.fspath(name) for name in names], flags)


def export(*names: str, progress: Progress = None, **flags: Flag) -> Any:
    """Exports series from the catalog to files."""
    return _data("export", names, flags, progress)


def series(**flags: Flag) -> Any:
    """Lists the series in the catalog, like ``candlewick data list``."""
    return _data("list", [], flags)
