"""Merge of the shards by the program that ran them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from candlewick_ray.failure import INTERRUPTED, Failure


def merge(
    program: Path,
    planned: str,
    arguments: list[str],
    timeout_s: float,
    is_stopped: Callable[[], bool],
    now: Callable[[], float] = time.monotonic,
) -> str:
    """Returns the stdout of `merge`; stderr is inherited. Raises `Failure` with its exit code."""
    command = [str(program), planned, "merge", *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    )
    begun = now()
    try:
        while True:
            try:
                said, _ = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if is_stopped():
                    raise Failure("interrupted", "repeat the command to resume", INTERRUPTED) from None
                if now() - begun > timeout_s:
                    raise Failure(
                        f"the merge did not end within {timeout_s:g} s", "raise --merge-timeout"
                    ) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
    if process.returncode:
        raise Failure("the shards are complete, but the merge failed", "", max(process.returncode, 1))
    return said.decode()
