"""Stored candles: read, written, fetched, imported, checked. As ``candlewick data``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._command import Flag, ask, check_flags, flags_of
from ._native import Table
from ._progress import Progress


def read(name: str | os.PathLike[str], *, catalog: str | os.PathLike[str] = "data") -> Table:
    """The candles of a file (``BTCUSDT_1m.csv``, ``BTCUSDT@1m=PATH``) or of a series of the catalog (``BTCUSDT@1m``)."""
    return _native.read_candles(os.fspath(name), Path(catalog))


def check_table(table: Any, series: str) -> Table:
    """Candles of a DataFrame or any table, checked: in order, aligned to their interval, each sound."""
    return _native.candles_of(table, series)


def write(table: Any, series: str, path: str | os.PathLike[str]) -> None:
    """Writes candles to a file that every command reads, ``.csv`` or ``.parquet`` by its name."""
    _native.write_candles(table, series, Path(path))


def _data(command: str, arguments: Sequence[str], flags: Mapping[str, Flag], progress: Progress = None) -> Any:
    check_flags(f"data {command}", flags)
    return ask(["data", command, *arguments, *flags_of(flags)], (), progress)[0]


def generate(symbol: str, **flags: Flag) -> Any:
    """Makes synthetic candles: ``generate("BTCUSDT", days=30, out=".")``."""
    return _data("generate", [], {"symbol": symbol, **flags})


def fetch(*series: str, progress: Progress = None, **flags: Flag) -> Any:
    """Fetches candles from the venue into the catalog: ``fetch("BTCUSDT@1m", from_="2026-01-01")``."""
    return _data("fetch", series, flags, progress)


def import_files(*files: str | os.PathLike[str], progress: Progress = None, **flags: Flag) -> Any:
    """Brings candles of other programs and sources into the catalog."""
    return _data("import", [os.fspath(file) for file in files], flags, progress)


def check(*names: str | os.PathLike[str], **flags: Flag) -> Any:
    """Looks for what is wrong with stored candles."""
    return _data("check", [os.fspath(name) for name in names], flags)


def export(*names: str, progress: Progress = None, **flags: Flag) -> Any:
    """Writes series of the catalog to files."""
    return _data("export", names, flags, progress)


def series(**flags: Flag) -> Any:
    """What the catalog holds: as ``candlewick data list``."""
    return _data("list", [], flags)
