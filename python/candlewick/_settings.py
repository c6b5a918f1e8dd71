"""Settings and candles of a run, converted to flags of a command."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _native
from ._errors import ConfigurationError
from ._strategy import AnyStrategy, strategy_name

#: Configuration files, or the settings themselves: ``{"risk": {"max_trades_per_day": 5}}``.
Settings = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, Any] | None
#: ``{"BTCUSDT@1m": table or file}``, or names as in ``--data``.
Candles = Mapping[str, Any] | str | os.PathLike[str] | Sequence[str] | None


def _toml(value: Any, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(name))} = {_toml(one, str(name))}" for name, one in value.items() if one is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(one, key) for one in value) + "]"
    raise ConfigurationError(f"{key}: {value!r} is not a valid setting", help="use numbers, texts, lists and mappings", code=2)


def to_toml(settings: Mapping[str, Any]) -> str:
    """Renders settings as TOML."""
    return "".join(f"{json.dumps(key)} = {_toml(one, key)}\n" for key, one in settings.items() if one is not None)


def build_bot(
    strategy: AnyStrategy | str,
    *,
    symbol: str,
    interval: str,
    close_type: str | None,
    params: Mapping[str, Any] | None,
    stake: float | Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Builds the settings of one bot."""
    name = strategy if isinstance(strategy, str) else strategy_name(strategy)
    if close_type is None:
        raise ConfigurationError("close_type is missing", help='set the duration of the trades: close_type="05:00"', code=2)
    amount = {"kind": "fixed", "amount": float(stake)} if isinstance(stake, int | float) else stake
    bot = {"name": name, "symbol": symbol, "interval": interval, "strategy": name}
    return bot | {"close_type": close_type, "params": dict(params or {}), "stake": amount}


@contextmanager
def command_flags(settings: Settings, bots: Sequence[Mapping[str, Any]], candles: Candles) -> Iterator[list[str]]:
    """Yields the flags of settings and candles. Temporary files with tables exist until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="candlewick-") as place:
        folder = Path(place)
        flags: list[str] = []
        if isinstance(settings, Mapping) or bots:
            own = dict(settings) if isinstance(settings, Mapping) else {}
            own["bots"] = [*own.get("bots", []), *bots]
            file = folder / "settings.toml"
            file.write_text(to_toml({key: one for key, one in own.items() if one != []}))
            named = [] if isinstance(settings, Mapping) else _files(settings)
            flags += _config([*named, file])
        else:
            flags += _config(_files(settings))
        for name in _names(candles, folder):
            flags += ["--data", name]
        yield flags


def _files(settings: Settings) -> list[Path]:
    if settings is None:
        return []
    if isinstance(settings, str | os.PathLike):
        return [Path(settings)]
    return [Path(one) for one in settings]


def _config(files: Sequence[Path]) -> list[str]:
    return [part for file in files for part in ("--config", os.fspath(file))]


def _names(candles: Candles, folder: Path) -> Iterator[str]:
    if candles is None:
        return
    if isinstance(candles, str | os.PathLike):
        yield os.fspath(candles)
    elif isinstance(candles, Mapping):
        for place, (series, table) in enumerate(candles.items()):
            if isinstance(table, str | os.PathLike):
                yield f"{series}={os.fspath(table)}"
            else:
                file = folder / f"{place}.parquet"
                _native.write_candles(table, series, file)
                yield f"{series}={file}"
    else:
        yield from candles
