"""What runs on a node. It is shipped by value: a node needs Ray, and nothing of this package."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: Files that this process has found to have the bytes of their hash.
_checked: set[tuple[str, int, int]] = set()


@dataclass(frozen=True)
class Shipped:
    """A file, by the SHA-256 of its bytes, and its name where the command sees it."""

    digest: str
    name: str


@dataclass(frozen=True)
class Order:
    """A shard, and all that its command needs."""

    shard: int
    #: As the plan says, such as walk-forward.
    command: str
    program: Shipped
    plan: Shipped
    data: tuple[tuple[str, Shipped], ...]
    files: tuple[Shipped, ...]
    arguments: tuple[str, ...]
    threads: int
    timeout_s: float
    cache: str | None
    #: The journals of shards without which this one cannot run.
    before: tuple[Shipped, ...] = ()


@dataclass(frozen=True)
class Answer:
    """How the command of a shard ended."""

    shard: int
    #: As candlewick's; negative where a signal ended it, None where it took too long.
    code: int | None
    journal: bytes
    #: The end of what it said on stderr.
    said: str
    host: str
    seconds: float


def run_shard(order: Order, fetch: Callable[[str], bytes]) -> Answer:
    """Runs a shard. `fetch` brings the bytes of a hash that are not on this node yet."""
    begun = time.monotonic()
    cache = cache_folder(order.cache)
    program = provide(cache, order.program, fetch)
    plan = provide(cache, order.plan, fetch)
    arguments = list(order.arguments)
    for prefix, candles in order.data:
        arguments += ["--data", f"{prefix}{provide(cache, candles, fetch)}"]
    # Shards of a plan share a folder, so that candles are prepared once on a node.
    folder = cache / f"run-{order.plan.digest[:16]}"
    folder.mkdir(exist_ok=True)
    for file in order.files:
        link(provide(cache, file, fetch), folder / file.name)
    out = Path(tempfile.mkdtemp(prefix=f"shard-{order.shard}-", dir=folder))
    try:
        for one in order.before:
            link(provide(cache, one, fetch), out / one.name)
        command = [str(program), order.command, "run", "--plan", str(plan), "--shard", str(order.shard)]
        command += ["--out", str(out), "--threads", str(order.threads), "--json", "--quiet", *arguments]
        code, said = execute(command, folder, order.timeout_s)
        journal = out / f"shard-{order.shard}.jsonl"
        text = journal.read_bytes() if code == 0 and journal.exists() else b""
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return Answer(order.shard, code, text, said, socket.gethostname(), time.monotonic() - begun)


def execute(command: list[str], folder: Path, timeout_s: float) -> tuple[int | None, str]:
    """Runs a command, which ends with this process at the latest. Its code, and the end of its stderr."""
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", *command]
    # Settings of the environment would be laid under the plan.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CANDLEWICK_")}
    environment.pop("LD_PRELOAD", None)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=timeout_s)
        return process.returncode, said.decode(errors="replace")[-2_000:].strip()
    except subprocess.TimeoutExpired:
        return None, f"it had not ended after {timeout_s:g} s"
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def cache_folder(named: str | None) -> Path:
    """Where a node keeps what was shipped: a folder of this user alone."""
    folder = Path(named) if named else Path(tempfile.gettempdir()) / f"candlewick-ray-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user: --cache names another folder")
    return folder


def provide(cache: Path, file: Shipped, fetch: Callable[[str], bytes]) -> Path:
    """The file with this hash on this node: the one that is there, if it has these bytes, or a new one."""
    place = cache / file.digest[:32]
    path = place / Path(file.name).name
    if has_bytes(path, file.digest):
        return path
    blob = fetch(file.digest)
    if hashlib.sha256(blob).hexdigest() != file.digest:
        raise ValueError(f"what arrived as {file.name} does not have the hash {file.digest}")
    place.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "wb") as writer:
        writer.write(blob)
    os.chmod(name, 0o500)
    os.replace(name, path)
    return path


def has_bytes(path: Path, digest: str) -> bool:
    """Whether the file is there and has this hash. A file is read once, and again when it changed."""
    try:
        status = path.stat()
        seen = (str(path), status.st_mtime_ns, status.st_size)
        if seen in _checked:
            return True
        with path.open("rb") as reader:
            found = hashlib.sha256()
            while block := reader.read(1 << 20):
                found.update(block)
    except FileNotFoundError:
        return False
    if found.hexdigest() != digest:
        return False
    _checked.add(seen)
    return True


def link(file: Path, place: Path) -> None:
    """Lets the command find a shipped file under the name that a parameter gives it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        place.symlink_to(file)
