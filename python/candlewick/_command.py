"""Commands of the command line, done in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from keyword import iskeyword
from typing import Any

from . import _native
from ._errors import ConfigurationError, error_of
from ._progress import Bar, Progress, progress_of
from ._strategy import AnyStrategy, define, starter_of

Flag = str | int | float | bool | date | None | Sequence[str | int | float | date]


def flags_of(values: Mapping[str, Flag]) -> list[str]:
    """Keyword arguments as flags: ``from_="2026-01-01", allow_coarse=True`` is ``--from 2026-01-01 --allow-coarse``."""
    flags: list[str] = []
    for name, value in values.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, str) or not isinstance(value, Iterable):
            # Dates and times of any library are written as ISO 8601.
            flags += [flag, str(value)]
        else:
            for one in value:
                flags += [flag, str(one)]
    return flags


def check_flags(command: str, flags: Iterable[str], keywords: Sequence[str] = ()) -> None:
    """Raises an error for keyword arguments that are neither flags of the command nor keywords of its function."""
    known = {flag.replace("-", "_") for flag in _native.flags(command.split())}
    for name in flags:
        if name.rstrip("_") in known:
            continue
        choices = [*keywords, *(f"{flag}_" if iskeyword(flag) else flag for flag in sorted(known))]
        meant = _native.find_keyword(name, choices)
        help = f"did you mean {meant}=?" if meant else f"use one of {', '.join(choices)}"
        raise ConfigurationError(f"unknown keyword {name}=", help=help, code=2)


def ask(
    arguments: Sequence[str],
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
) -> tuple[Any, _native.Answer]:
    """Does a command, and answers with its JSON document. Ctrl-C stops it."""
    definitions = [define(one) for one in strategies]
    with progress_of(progress) as show:
        answer = _native.answer([*arguments, "--json", "--quiet"], definitions, starter_of(strategies), True, show)
    document = _document(answer.output)
    if answer.code == 130 and (document is None or arguments[0] not in ("live", "paper")):
        raise KeyboardInterrupt
    if answer.code not in (0, 130) or answer.message is not None:
        message = answer.message or f"the command ended with exit code {answer.code}"
        raise error_of(answer.code, message, answer.help, document)
    return document, answer


def _document(output: str) -> Any:
    if not output.strip():
        return None
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        return [json.loads(line) for line in output.splitlines() if line.strip()]


def show(arguments: Sequence[str], strategies: Sequence[AnyStrategy] = ()) -> int:
    """Does a command as on a command line: it prints what it has to say. Its exit code."""
    definitions = [define(one) for one in strategies]
    return _native.answer(list(arguments), definitions, starter_of(strategies), False, None).code


__all__ = ["Bar", "Callable", "Progress", "ask", "check_flags", "flags_of", "show"]
