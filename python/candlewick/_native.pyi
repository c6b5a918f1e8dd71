"""Native module: commands, Arrow tables, and the inputs and signals of strategies."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, final

class ArrowStream(Protocol):
    """An Arrow stream (PyCapsule interface): a table of pandas, Polars, DuckDB or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table:
    """An Arrow table. pandas, Polars, DuckDB and pyarrow read it without a copy: ``polars.DataFrame(table)``."""

    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Column: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Column:
    """A column of a table. NumPy reads numbers and times without a copy: ``numpy.asarray(column)``."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Candle:
    """A closed candle. Prices are in the quote currency, ``volume`` is 0 if the source has none."""

    def __new__(cls, time: int, open: float, high: float, low: float, close: float, volume: float = 0.0) -> Candle: ...
    @property
    def time(self) -> int:
        """Open time in milliseconds since 1970-01-01 UTC."""
    @property
    def open(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def close(self) -> float: ...
    @property
    def volume(self) -> float: ...

@final
class Price:
    """A price that arrives between candles."""

    @property
    def time(self) -> int:
        """Venue time in milliseconds since 1970-01-01 UTC."""
    @property
    def value(self) -> float: ...

@final
class Settlement:
    """Settlement of one of the bot's own trades."""

    @property
    def direction(self) -> str:
        """``BUY`` or ``SELL``."""
    @property
    def decision_time(self) -> int:
        """Time of the signal in milliseconds since 1970-01-01 UTC."""
    @property
    def outcome(self) -> str:
        """``WON``, ``LOST``, ``DRAW`` or ``CANCELLED``."""
    @property
    def profit_minor(self) -> int:
        """Net profit in minor units of the wallet's currency, such as cents. Negative for a loss."""

@final
class Signal:
    """A request for a trade, created by ``buy()`` and ``sell()``."""

    def __new__(cls, is_buy: bool, reason: str, close_type: str | None = None, numbers: Mapping[str, float] | None = None) -> Signal: ...
    @property
    def direction(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def close_type(self) -> str | None: ...
    @property
    def numbers(self) -> dict[str, float]: ...

@final
class Definition:
    """A registered strategy class."""

    def __new__(
        cls,
        names: tuple[str, str, str],
        parameters: Sequence[tuple[str, str, float | None, float | None, str]],
        build: Callable[[str, str, tuple[str, str, str]], object],
        wants_prices: bool,
        has_columns: bool,
    ) -> Definition: ...

@final
class CommandResult:
    """Result of a command."""

    code: int
    output: str
    message: str | None
    help: str | None
    trades: Table | None

def flags(command: list[str]) -> list[str]:
    """Returns the long flags of a command, without dashes."""

def find_keyword(name: str, choices: list[str]) -> str | None:
    """Returns the keyword argument closest to a misspelt one or to another program's argument."""

def run(
    arguments: Sequence[str],
    definitions: Sequence[Definition],
    starts_by: Sequence[str],
    keeps_output: bool,
    progress: Callable[[str, int, int], None] | None = None,
) -> CommandResult: ...
def check_lookahead(signals: Callable[[Table], Any], candles: ArrowStream, interval: str, truncations: int = 12) -> list[int]: ...
def read_csv(path: Path) -> Table: ...
def read_candles(name: str, catalog: Path) -> Table: ...
def check_candles(table: ArrowStream, series: str) -> Table: ...
def write_candles(table: ArrowStream, series: str, path: Path) -> None: ...
