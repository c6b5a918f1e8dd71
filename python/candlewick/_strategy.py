"""Strategies: a class that answers each candle, or one that computes whole columns of signals."""

from __future__ import annotations

import hashlib
import inspect
import json
import marshal
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ._errors import ConfigurationError
from ._native import Candle, Definition, Price, Settlement, Signal, Table

T = TypeVar("T", int, float, bool, str)
_KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}


@dataclass(frozen=True)
class Bot:
    """The bot that a strategy works for."""

    name: str
    symbol: str
    interval: str
    close_type: str


@dataclass(frozen=True)
class _Parameter:
    default: Any
    minimum: float | None
    maximum: float | None
    about: str


def param(default: T, min: float | None = None, max: float | None = None, about: str = "") -> T:
    """A parameter with its range, both ends within: ``period: int = param(14, min=2, max=100)``."""
    # What stands in the class is replaced by the bot's value before anybody reads it.
    return typing.cast(T, _Parameter(default, min, max, about))


def buy(reason: str, *, close_type: str | None = None, **numbers: float) -> Signal:
    """A bet on a higher price. The reason's numbers have names: ``buy("oversold", rsi=28.2)``; at most four.

    ``close_type``, a duration code such as ``"05:00"``, replaces that of the bot for this trade. Name it in ``close_types`` of the class.
    """
    return Signal(True, reason, close_type, numbers)


def sell(reason: str, *, close_type: str | None = None, **numbers: float) -> Signal:
    """A bet on a lower price; as :func:`buy`."""
    return Signal(False, reason, close_type, numbers)


class _Base:
    #: The name in settings: lower case with hyphens; that of the class when left out.
    name: ClassVar[str] = ""
    #: The version of its rules. The hash of its source is added, so that results of different code are never mixed.
    version: ClassVar[str] = "1.0.0"
    #: The bot that it works for. Set before ``__init__`` is called, as the parameters are.
    bot: Bot

    def __init__(self) -> None:
        pass

    def warmup(self) -> int:
        """How many candles it must have seen before its signals mean anything, the present one counted."""
        raise NotImplementedError

    def _overrides(self, method: str) -> bool:
        own = getattr(type(self), method, None)
        return own is not None and own is not getattr(Strategy, method, None)


class Strategy(_Base):
    """A strategy that is shown each closed candle, in a backtest, on paper and live alike.

    Its annotated attributes are its parameters. It must be deterministic: the same candles give the same answers, so it reads no
    clock, no file and no random source in ``on_candle``.
    """

    #: Longer intervals whose candles it wants to see as well, such as ``("5m",)``.
    longer_intervals: ClassVar[Sequence[str]] = ()
    #: Durations that its signals may name in ``close_type``, such as ``("05:00",)``. ``strategy_check`` refuses others.
    close_types: ClassVar[Sequence[str]] = ()

    def on_candle(self, candle: Candle) -> Signal | None:
        """A candle has closed. Answer ``buy(...)`` or ``sell(...)`` to ask for a trade, else ``None``."""
        raise NotImplementedError

    def on_longer_candle(self, interval: str, candle: Candle) -> None:
        """A candle of one of its longer intervals has closed."""

    def on_price(self, price: Price) -> Signal | None:
        """The latest price between candles. Only called where it is overridden."""
        return None

    def on_settled(self, settlement: Settlement) -> None:
        """One of the bot's own trades has settled. Only called where it is overridden."""

    def indicators(self) -> Mapping[str, float]:
        """The values that it went by when it last answered, for people who ask why."""
        return {}


class ColumnStrategy(_Base):
    """A strategy that computes the signals of all candles at once.

    A backtest or a search computes the column once and replays it at native speed. On paper and live it is computed of the latest
    candles at each one, and a signal that changes with candles after it ends the run: it was computed of the future.
    """

    #: Whether a backtest computes the column again of candles that end earlier, to see that nothing changes.
    checks_lookahead: ClassVar[bool] = True

    def signals(self, candles: Table) -> Any:
        """A number for each candle: 1 buys, -1 sells, 0 or a missing value does neither.

        ``numpy.asarray(candles["close"])`` is the column without a copy, ``polars.DataFrame(candles)`` the whole table.
        """
        raise NotImplementedError


AnyStrategy = type[Strategy] | type[ColumnStrategy]


def name_of(cls: AnyStrategy) -> str:
    """The name in settings."""
    if not (inspect.isclass(cls) and issubclass(cls, Strategy | ColumnStrategy)):
        raise ConfigurationError(f"{cls!r} is no strategy", help="give a class derived from candlewick.Strategy or ColumnStrategy", code=2)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
    return cls.name or words.replace("_", "-").lower()


def _parameters_of(cls: AnyStrategy) -> dict[str, tuple[type, _Parameter]]:
    known = set(typing.get_type_hints(Strategy)) | set(typing.get_type_hints(ColumnStrategy))
    found: dict[str, tuple[type, _Parameter]] = {}
    for name, kind in typing.get_type_hints(cls).items():
        if name in known or name.startswith("_") or typing.get_origin(kind) is ClassVar:
            continue
        value = getattr(cls, name, None)
        parameter = value if isinstance(value, _Parameter) else _Parameter(value, None, None, "")
        where = f"{cls.__name__}.{name}"
        if kind not in _KINDS:
            raise ConfigurationError(
                f"{where} is annotated as {kind!r}, which no parameter can be",
                help="annotate parameters as int, float, bool or str; other attributes go without an annotation, or in __init__",
                code=2,
            )
        default = parameter.default
        if kind is float and type(default) is int:
            default = float(default)
        if type(default) is not kind:
            raise ConfigurationError(
                f"{where} = {default!r}: a parameter needs a default that is {_KINDS[kind]}",
                help=f"write {name}: {kind.__name__} = ..., or param(..., min=..., max=...)",
                code=2,
            )
        found[name] = (kind, _Parameter(default, parameter.minimum, parameter.maximum, parameter.about))
    return found


def _code_of(value: Any) -> bytes:
    """The compiled code of a class that has no file."""
    parts = [repr((name, one)).encode() for name, one in sorted(vars(value).items()) if isinstance(one, int | float | str)]
    parts += [marshal.dumps(one.__code__) for _, one in sorted(vars(value).items()) if isinstance(one, types.FunctionType)]
    return b"\0".join(parts)


def file_of(cls: AnyStrategy) -> Path | None:
    """The file that defines it; nothing for one that was typed into a notebook or a prompt."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(file).resolve() if file else None


def _version_of(cls: AnyStrategy) -> str:
    file = file_of(cls)
    source = file.read_bytes() if file else _code_of(cls)
    return f"{cls.version}+{hashlib.sha256(source).hexdigest()[:16]}"


S = TypeVar("S", Strategy, ColumnStrategy)


def made_of(cls: type[S], values: Mapping[str, Any], bot: Bot) -> S:
    """The object of one bot: its parameters are there before ``__init__`` is called."""
    made = cls.__new__(cls)
    for name, (kind, parameter) in _parameters_of(cls).items():
        value = values.get(name, parameter.default)
        setattr(made, name, float(value) if kind is float else value)
    made.bot = bot
    made.__init__()  # type: ignore[misc]
    return made


def define(cls: AnyStrategy) -> Definition:
    """What a program needs to know of a class."""
    name = name_of(cls)
    parameters = _parameters_of(cls)

    def build(values: str, bot: str, series: tuple[str, str, str]) -> Strategy | ColumnStrategy:
        made: Strategy | ColumnStrategy = made_of(cls, json.loads(values), Bot(bot, *series))  # type: ignore[type-var]
        return made

    about = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
    described = [(name, json.dumps(one.default), one.minimum, one.maximum, one.about) for name, (_, one) in parameters.items()]
    wants_prices = issubclass(cls, Strategy) and cls.on_price is not Strategy.on_price
    names = (name, _version_of(cls), about)
    return Definition(names, described, build, wants_prices, issubclass(cls, ColumnStrategy))


def starter_of(strategies: Sequence[AnyStrategy]) -> list[str]:
    """The command by which another process knows the same strategies."""
    command = [sys.executable, "-m", "candlewick"]
    for cls in strategies:
        file = file_of(cls)
        if file is None:
            # Only what is asked in another process fails, and says so.
            command += ["--strategy", f"{cls.__module__}:{cls.__qualname__}"]
            continue
        package = getattr(sys.modules[cls.__module__], "__package__", None) or ""
        if package and cls.__module__ != "__main__":
            root = file.parents[cls.__module__.count(".") + (1 if file.name == "__init__.py" else 0)]
            command += ["--path", str(root), "--strategy", f"{cls.__module__}:{cls.__qualname__}"]
        else:
            command += ["--strategy", f"{file}:{cls.__qualname__}"]
    return command
