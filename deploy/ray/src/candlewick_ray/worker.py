"""Worker on a node. It is shipped by value, so a node needs Ray but not this package."""

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

#: Files whose hash this process has verified.
_checked: set[tuple[str, int, int]] = set()


@dataclass(frozen=True)
class Shipped:
    """A file with its SHA-256 and its name as seen by the command."""

    digest: str
    name: str


@dataclass(frozen=True)
class Order:
    """A shard and the inputs of its command."""

    shard: int
    #: Command of the plan, such as walk-forward.
    command: str
    program: Shipped
    plan: Shipped
    data: tuple[tuple[str, Shipped], ...]
    files: tuple[Shipped, ...]
    arguments: tuple[str, ...]
    threads: int
    timeout_s: float
    cache: str | None
    #: Journals of the shards that this one needs.
    before: tuple[Shipped, ...] = ()


@dataclass(frozen=True)
class Answer:
    """Result of the command of a shard."""

    shard: int
    #: Exit code, negative after a signal, None after a timeout.
    code: int | None
    journal: bytes
    #: End of stderr.
    said: str
    host: str
    seconds: float


def run_shard(order: Order, fetch: Callable[[str], bytes]) -> Answer:
    """Runs a shard. `fetch` returns the bytes of a hash that this node lacks."""
    begun = time.monotonic()
    cache = cache_folder(order.cache)
    program = provide(cache, order.program, fetch)
    plan = provide(cache, order.plan, fetch)
    arguments = list(order.arguments)
    for prefix, candles in order.data:
        arguments += ["--data", f"{prefix}{provide(cache, candles, fetch)}"]
    # Shards of a plan share a folder, so candles are prepared once per node.
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
    """Runs a command that does not outlive this process. Returns its exit code and the end of stderr."""
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", *command]
    # Settings of the environment would override defaults that the plan relies on.
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
        return None, f"timeout after {timeout_s:g} s"
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def cache_folder(named: str | None) -> Path:
    """Returns the private folder of shipped files on a node."""
    folder = Path(named) if named else Path(tempfile.gettempdir()) / f"candlewick-ray-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user: choose another folder with --cache")
    return folder


def provide(cache: Path, file: Shipped, fetch: Callable[[str], bytes]) -> Path:
    """Returns the file with this hash on this node, fetching it if missing or damaged."""
    place = cache / file.digest[:32]
    path = place / Path(file.name).name
    if has_bytes(path, file.digest):
        return path
    blob = fetch(file.digest)
    if hashlib.sha256(blob).hexdigest() != file.digest:
        raise ValueError(f"the received {file.name} does not have the hash {file.digest}")
    place.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "wb") as writer:
        writer.write(blob)
    os.chmod(name, 0o500)
    os.replace(name, path)
    return path


def has_bytes(path: Path, digest: str) -> bool:
    """Returns whether the file exists with this hash. It is read again only after a change."""
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
    """Links a shipped file under the name that a parameter uses."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        place.symlink_to(file)
