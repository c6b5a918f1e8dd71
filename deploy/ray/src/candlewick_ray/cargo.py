"""Files that are shipped to the workers, addressed by hash."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from candlewick_ray.failure import UNUSABLE_DATA, WRONG_USAGE, Failure
from candlewick_ray.plan import Plan
from candlewick_ray.worker import Shipped


@dataclass(frozen=True)
class Cargo:
    """Shipped files, and how the command of a shard refers to them."""

    blobs: dict[str, bytes]
    program: Shipped
    plan: Shipped
    #: Candle files, each with its prefix in `--data` (such as `BTCUSDT@1m=`).
    data: tuple[tuple[str, Shipped], ...]
    #: Files named by parameters, with their relative paths.
    files: tuple[Shipped, ...]
    #: Arguments that are the same on every node.
    arguments: tuple[str, ...]

    def size(self) -> int:
        """Total number of bytes."""
        return sum(len(blob) for blob in self.blobs.values())


def load(plan: Plan, program: Path, data: tuple[str, ...], catalog: str | None) -> Cargo:
    """Reads all files that a worker needs. `data` and `catalog` override the plan."""
    blobs: dict[str, bytes] = {}

    def ship(path: Path, name: str, code: int) -> Shipped:
        try:
            blob = path.read_bytes()
        except OSError as error:
            raise Failure(f"{path}: cannot be read: {error.strerror}", "", code) from error
        digest = hashlib.sha256(blob).hexdigest()
        blobs[digest] = blob
        return Shipped(digest, name)

    if not data and catalog is None:
        data, catalog = plan.data, plan.catalog
    arguments: list[str] = [] if catalog is None else ["--catalog", str(Path(catalog).resolve())]
    shipped = []
    for one in data:
        prefix, path = candle_file(one)
        if path is None:
            arguments += ["--data", one]
        else:
            shipped.append((prefix, ship(path, path.name, UNUSABLE_DATA)))
    relative = [name for name in plan.files if not Path(name).is_absolute() and ".." not in Path(name).parts]
    planned = hashlib.sha256(plan.text).hexdigest()
    blobs[planned] = plan.text
    return Cargo(
        blobs=blobs,
        program=ship(program, "candlewick", WRONG_USAGE),
        plan=Shipped(planned, "plan.json"),
        data=tuple(shipped),
        files=tuple(ship(Path(name), name, UNUSABLE_DATA) for name in relative),
        arguments=tuple(arguments),
    )


def candle_file(argument: str) -> tuple[str, Path | None]:
    """Splits a `--data`: `SYMBOL@INTERVAL=PATH`, `PATH`, or a series that every node has.

    That is a catalog's `SYMBOL@INTERVAL`, and whatever lies on object storage.
    """
    if "://" in argument:
        return "", None
    series, equals, path = argument.partition("=")
    if equals and "@" in series:
        return f"{series}=", Path(path)
    if "@" in argument and not Path(argument).exists():
        return "", None
    return "", Path(argument)


def find_program(named: str | None) -> Path:
    """Returns the program to ship: `--binary`, or candlewick from the PATH."""
    found = named or shutil.which("candlewick")
    if found is None:
        raise Failure("candlewick is not on the PATH", "name it with --binary", WRONG_USAGE)
    return Path(found).resolve()


def is_static(program: bytes) -> bool:
    """Returns whether a 64-bit ELF file is linked statically, so it runs on any Linux of its kind."""
    if program[:6] != b"\x7fELF\x02\x01":
        return True
    start = int.from_bytes(program[32:40], "little")
    size, count = (int.from_bytes(program[at : at + 2], "little") for at in (54, 56))
    kinds = (program[start + size * place :][:4] for place in range(count))
    return all(int.from_bytes(kind, "little") != 3 for kind in kinds)
