"""Commands of the command line, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from keyword import iskeyword
from typing import Any

from . import _native
from ._errors import ConfigurationError, build_error
from ._progress import Bar, Progress, open_progress
from ._strategy import AnyStrategy, define, start_command

Flag = str | int | float | bool | date | None | Sequence[str | int | float | date]


def to_flags(values: Mapping[str, Flag]) -> list[str]:
    """Converts keyword arguments to flags: ``from_="2026-01-01", allow_coarse=True`` to ``--from 2026-01-01 --allow-coarse``."""
    flags: list[str] = []
    for name, value in values.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, str) or not isinstance(value, Iterable):
            # All libraries render dates and times as ISO 8601.
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


def run_json(
    arguments: Sequence[str],
    strategies: Sequence[AnyStrategy] = (),
    progress: Progress = None,
) -> tuple[Any, _native.CommandResult]:
    """Runs a command and returns its JSON document. Ctrl-C stops it."""
    definitions = [define(one) for one in strategies]
    with open_progress(progress) as show:
        answer = _native.run([*arguments, "--json", "--quiet"], definitions, start_command(strategies), True, show)
    document = _document(answer.output)
    if answer.code == 130 and (document is None or arguments[0] not in ("live", "paper")):
        raise KeyboardInterrupt
    if answer.code not in (0, 130) or answer.message is not None:
        message = answer.message or f"the command ended with exit code {answer.code}"
        raise build_error(answer.code, message, answer.help, document)
    return document, answer


def _document(output: str) -> Any:
    if not output.strip():
        return None
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        return [json.loads(line) for line in output.splitlines() if line.strip()]


def show(arguments: Sequence[str], strategies: Sequence[AnyStrategy] = ()) -> int:
    """Runs a command as on the command line, with printed output. Returns its exit code."""
    definitions = [define(one) for one in strategies]
    return _native.run(list(arguments), definitions, start_command(strategies), False, None).code


__all__ = ["Bar", "Callable", "Progress", "check_flags", "run_json", "show", "to_flags"]
