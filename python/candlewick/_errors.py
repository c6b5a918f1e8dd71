"""Errors of commands, by exit code."""

from __future__ import annotations

from typing import Any


class CandlewickError(Exception):
    """A command failed."""

    def __init__(self, message: str, *, help: str | None = None, code: int = 1, document: Any = None) -> None:
        super().__init__(message)
        #: Suggested fix, if known.
        self.help = help
        #: Exit code of the same command on the command line.
        self.code = code
        #: JSON document of the command, if any, such as the failed checks.
        self.document = document

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\nhint: {self.help}" if self.help else message


class ConfigurationError(CandlewickError):
    """Invalid arguments or settings."""


class DataError(CandlewickError):
    """Unusable candles or other data."""


class VenueError(CandlewickError):
    """The venue declines, is unreachable, or has not answered yet."""


class CheckError(CandlewickError):
    """A check of a strategy, of parity or of data failed."""


class LookaheadError(CheckError):
    """A column of signals changes with later candles."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=5)


class StoppedError(CandlewickError):
    """The run was halted by a limit, or by a condition that the operator must check."""


class JournalHeldError(CandlewickError):
    """The journal is in use by another process."""


_BY_CODE: dict[int, type[CandlewickError]] = {
    2: ConfigurationError,
    3: DataError,
    4: VenueError,
    5: CheckError,
    6: StoppedError,
    7: JournalHeldError,
}


def build_error(code: int, message: str, help: str | None, document: Any) -> CandlewickError:
    """Builds the exception of a command that ended with this exit code."""
    return _BY_CODE.get(code, CandlewickError)(message, help=help, code=code, document=document)
