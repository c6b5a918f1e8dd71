"""Puts the shards together, with the program that ran them."""

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
    """What `merge` of the planned command prints on stdout; its stderr is ours. A `Failure` has its code."""
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
                    raise Failure("interrupted", "the same command goes on", INTERRUPTED) from None
                if now() - begun > timeout_s:
                    raise Failure(
                        f"the merge had not ended after {timeout_s:g} s", "--merge-timeout"
                    ) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
    if process.returncode:
        raise Failure("the shards are there, and could not be merged", "", max(process.returncode, 1))
    return said.decode()
