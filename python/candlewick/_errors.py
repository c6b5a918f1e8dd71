"""What goes wrong, by what there is to do about it."""

from __future__ import annotations

from typing import Any


class CandlewickError(Exception):
    """A command did not do what it is for."""

    def __init__(self, message: str, *, help: str | None = None, code: int = 1, document: Any = None) -> None:
        super().__init__(message)
        #: What to do about it, where that is known.
        self.help = help
        #: The exit code of the same command on a command line.
        self.code = code
        #: What the command found nevertheless, such as the checks that failed.
        self.document = document

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\nhint: {self.help}" if self.help else message


class ConfigurationError(CandlewickError):
    """Wrong arguments or settings."""


class DataError(CandlewickError):
    """Unusable candles or other data."""


class VenueError(CandlewickError):
    """The venue refuses, cannot be reached, or still owes an answer."""


class CheckError(CandlewickError):
    """A check failed: a strategy's, parity, data."""


class LookaheadError(CheckError):
    """A column of signals changes with candles that come later."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=5)


class StoppedError(CandlewickError):
    """Halted: a limit, or something that a person must look at."""


class JournalHeldError(CandlewickError):
    """Another process holds the journal."""


_BY_CODE: dict[int, type[CandlewickError]] = {
    2: ConfigurationError,
    3: DataError,
    4: VenueError,
    5: CheckError,
    6: StoppedError,
    7: JournalHeldError,
}


def error_of(code: int, message: str, help: str | None, document: Any) -> CandlewickError:
    """The exception of a command that ended with this exit code."""
    return _BY_CODE.get(code, CandlewickError)(message, help=help, code=code, document=document)
