"""Base classes of strategies: candle by candle, or whole columns of signals."""

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
    """The bot of a strategy: name, symbol, interval and duration of its trades."""

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
    """Declares a parameter with its range, both ends included: ``period: int = param(14, min=2, max=100)``."""
    # The instance attribute has the bot's value.
    return typing.cast(T, _Parameter(default, min, max, about))


def buy(reason: str, *, close_type: str | None = None, **numbers: float) -> Signal:
    """Requests a trade on a higher price: ``buy("oversold", rsi=28.2)``.

    ``reason`` must be one of few fixed texts. Pass values that differ from candle to candle as named numbers, at most four.
    ``close_type``, a duration such as ``"05:00"``, overrides the bot's duration for this trade. List it in ``close_types`` of the class.
    """
    return Signal(True, reason, close_type, numbers)


def sell(reason: str, *, close_type: str | None = None, **numbers: float) -> Signal:
    """Requests a trade on a lower price, like :func:`buy`."""
    return Signal(False, reason, close_type, numbers)


class _Base:
    #: Name in settings: lower-case letters, digits and hyphens. By default derived from the name of the class.
    name: ClassVar[str] = ""
    #: Version of the rules. The hash of the source is appended, so that results of different code are stored separately.
    version: ClassVar[str] = "1.0.0"
    #: The bot of the strategy. Set before ``__init__`` is called, like the parameters.
    bot: Bot

    def __init__(self) -> None:
        pass

    def warmup(self) -> int:
        """Returns the warm-up length in candles, including the current one. Signals during the warm-up are never traded."""
        raise NotImplementedError

    def _overrides(self, method: str) -> bool:
        own = getattr(type(self), method, None)
        return own is not None and own is not getattr(Strategy, method, None)


class Strategy(_Base):
    """A strategy that processes closed candles one by one, in a backtest, on paper and live.

    Implement ``warmup`` and ``on_candle``. Annotated attributes are parameters; they and ``bot`` are set before ``__init__``, which
    takes no arguments. One instance is created per bot. It must be deterministic: ``on_candle`` must not read a clock, a file or a
    random source.
    """

    #: Longer intervals for ``on_longer_candle``, multiples of the bot's own, such as ``("5m",)``.
    longer_intervals: ClassVar[Sequence[str]] = ()
    #: Durations that signals may have in ``close_type``, such as ``("05:00",)``. ``strategy_check`` rejects others.
    close_types: ClassVar[Sequence[str]] = ()

    def on_candle(self, candle: Candle) -> Signal | None:
        """Processes a closed candle. Return ``buy(...)`` or ``sell(...)`` to request a trade, otherwise ``None``."""
        raise NotImplementedError

    def on_longer_candle(self, interval: str, candle: Candle) -> None:
        """Processes a closed candle of a longer interval. Called after ``on_candle`` of the last candle in it."""

    def on_price(self, price: Price) -> Signal | None:
        """Processes the latest price between candle closes, like ``on_candle``. Only called if overridden."""
        return None

    def on_settled(self, settlement: Settlement) -> None:
        """Processes the settlement of one of the bot's own trades. Only called if overridden."""

    def indicators(self) -> Mapping[str, float]:
        """Returns the values behind the last decision, for ``candlewick explain``."""
        return {}


class ColumnStrategy(_Base):
    """A strategy that computes the signals of all candles at once.

    Implement ``warmup`` and ``signals``. A backtest or search computes the column once and replays it at native speed. On paper and
    live it is computed from the latest candles at each candle. A signal that changes with later candles is look-ahead and ends the run.
    """

    #: Whether a backtest checks for look-ahead: it computes the column again from candles that end earlier.
    checks_lookahead: ClassVar[bool] = True

    def signals(self, candles: Table) -> Any:
        """Returns a number per candle: 1 to buy, -1 to sell, 0 or a missing value for no signal.

        ``numpy.asarray(candles["close"])`` reads a column without a copy, ``polars.DataFrame(candles)`` the whole table.
        """
        raise NotImplementedError


AnyStrategy = type[Strategy] | type[ColumnStrategy]


def strategy_name(cls: AnyStrategy) -> str:
    """Returns the name in settings."""
    if not (inspect.isclass(cls) and issubclass(cls, Strategy | ColumnStrategy)):
        raise ConfigurationError(f"{cls!r} is not a strategy", help="derive the class from candlewick.Strategy or ColumnStrategy", code=2)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
    return cls.name or words.replace("_", "-").lower()


def _parameters(cls: AnyStrategy) -> dict[str, tuple[type, _Parameter]]:
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
                f"{where} is annotated as {kind!r}, which is not a type of parameters",
                help="annotate parameters as int, float, bool or str; leave other attributes without annotation, or set them in __init__",
                code=2,
            )
        default = parameter.default
        if kind is float and type(default) is int:
            default = float(default)
        if type(default) is not kind:
            raise ConfigurationError(
                f"{where} = {default!r}: the parameter needs a default that is {_KINDS[kind]}",
                help=f"write {name}: {kind.__name__} = ..., or param(..., min=..., max=...)",
                code=2,
            )
        found[name] = (kind, _Parameter(default, parameter.minimum, parameter.maximum, parameter.about))
    return found


def _compiled_code(value: Any) -> bytes:
    """Returns the compiled code of a class without a file."""
    parts = [repr((name, one)).encode() for name, one in sorted(vars(value).items()) if isinstance(one, int | float | str)]
    parts += [marshal.dumps(one.__code__) for _, one in sorted(vars(value).items()) if isinstance(one, types.FunctionType)]
    return b"\0".join(parts)


def source_file(cls: AnyStrategy) -> Path | None:
    """Returns the file of a class, ``None`` if it is defined in a notebook or a prompt."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(file).resolve() if file else None


def _version(cls: AnyStrategy) -> str:
    file = source_file(cls)
    source = file.read_bytes() if file else _compiled_code(cls)
    return f"{cls.version}+{hashlib.sha256(source).hexdigest()[:16]}"


S = TypeVar("S", Strategy, ColumnStrategy)


def build_instance(cls: type[S], values: Mapping[str, Any], bot: Bot) -> S:
    """Creates the instance of one bot. Sets its parameters before ``__init__`` is called."""
    made = cls.__new__(cls)
    for name, (kind, parameter) in _parameters(cls).items():
        value = values.get(name, parameter.default)
        setattr(made, name, float(value) if kind is float else value)
    made.bot = bot
    made.__init__()  # type: ignore[misc]
    return made


def define(cls: AnyStrategy) -> Definition:
    """Builds the definition of a strategy class."""
    name = strategy_name(cls)
    parameters = _parameters(cls)

    def build(values: str, bot: str, series: tuple[str, str, str]) -> Strategy | ColumnStrategy:
        made: Strategy | ColumnStrategy = build_instance(cls, json.loads(values), Bot(bot, *series))  # type: ignore[type-var]
        return made

    about = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
    described = [(name, json.dumps(one.default), one.minimum, one.maximum, one.about) for name, (_, one) in parameters.items()]
    wants_prices = issubclass(cls, Strategy) and cls.on_price is not Strategy.on_price
    names = (name, _version(cls), about)
    return Definition(names, described, build, wants_prices, issubclass(cls, ColumnStrategy))


def start_command(strategies: Sequence[AnyStrategy]) -> list[str]:
    """Returns the command that starts another process with the same strategies."""
    command = [sys.executable, "-m", "candlewick"]
    for cls in strategies:
        file = source_file(cls)
        if file is None:
            # The other process reports an error for this.
            command += ["--strategy", f"{cls.__module__}:{cls.__qualname__}"]
            continue
        package = getattr(sys.modules[cls.__module__], "__package__", None) or ""
        if package and cls.__module__ != "__main__":
            root = file.parents[cls.__module__.count(".") + (1 if file.name == "__init__.py" else 0)]
            command += ["--path", str(root), "--strategy", f"{cls.__module__}:{cls.__qualname__}"]
        else:
            command += ["--strategy", f"{file}:{cls.__qualname__}"]
    return command
