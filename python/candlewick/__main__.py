"""The command line with strategies in Python: ``python -m candlewick --strategy FILE.py:Class COMMAND ...``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from ._api import App
from ._errors import ConfigurationError
from ._strategy import AnyStrategy


def _load(spec: str) -> AnyStrategy:
    source, _, name = spec.rpartition(":")
    if not source or not name:
        raise ConfigurationError(f"--strategy {spec}: write FILE.py:Class or module:Class", code=2)
    if source == "__main__":
        raise ConfigurationError(
            f"the class {name} is defined in a notebook or a prompt, where other processes cannot import it",
            help=f"write it to a file (in a notebook: %%writefile strategies.py) and import it: from strategies import {name}",
            code=2,
        )
    if source.endswith(".py"):
        file = Path(source)
        sys.path.insert(0, str(file.parent))
        made = importlib.util.spec_from_file_location(file.stem, file)
        if made is None or made.loader is None:
            raise ConfigurationError(f"--strategy {spec}: {file} is not a Python file", code=2)
        module = importlib.util.module_from_spec(made)
        sys.modules[file.stem] = module
        made.loader.exec_module(module)
    else:
        module = importlib.import_module(source)
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise ConfigurationError(f"--strategy {spec}: {source} has no class {name}", code=2)
    return found  # type: ignore[return-value]  # checked on registration


def main() -> int:
    """Handles ``--strategy`` and ``--path``, and passes all other arguments to the command."""
    arguments = sys.argv[1:]
    strategies: list[AnyStrategy] = []
    try:
        while len(arguments) >= 2 and arguments[0] in ("--strategy", "--path"):
            option, value, *arguments = arguments
            if option == "--path":
                sys.path.insert(0, value)
            else:
                strategies.append(_load(value))
        return App(strategies).run(arguments)
    except (ConfigurationError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
