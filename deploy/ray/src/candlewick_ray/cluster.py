"""Engine on Ray. No other module uses Ray."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
from dataclasses import astuple
from pathlib import Path
from typing import Any

from candlewick_ray import worker
from candlewick_ray.cargo import Cargo
from candlewick_ray.driver import Lost
from candlewick_ray.failure import WRONG_USAGE, Failure
from candlewick_ray.worker import Answer, Order, Shipped


class Cluster:
    """Connection to a cluster, with the shipped files."""

    def __init__(
        self, ray: Any, command: str, cargo: Cargo, threads: int, timeout_s: float, cache: str | None
    ) -> None:
        """Ships the cargo. Nodes fetch the files that they lack."""
        self._ray = ray
        self._command = command
        self._cargo = cargo
        self._threads = threads
        self._timeout_s = timeout_s
        self._cache = cache
        self._tasks: dict[Any, int] = {}
        self._blobs = {digest: ray.put(blob) for digest, blob in cargo.blobs.items()}
        self._journals: dict[Path, Shipped] = {}
        ray.cloudpickle.register_pickle_by_value(worker)
        # The driver counts and reports attempts; a lost node is one.
        options = {"num_cpus": threads, "max_retries": 0, "max_calls": 0}
        self._run = ray.remote(**options)(_task)

    def submit(self, shard: int, before: list[Path]) -> None:
        """See `driver.Engine`."""
        cargo = self._cargo
        journals = tuple(map(self._ship, before))
        order = Order(
            shard, self._command, cargo.program, cargo.plan, cargo.data, cargo.files, cargo.arguments,
            self._threads, self._timeout_s, self._cache, journals,
        )  # fmt: skip
        # References inside a dictionary are fetched on first use.
        self._tasks[self._run.remote(order, self._blobs)] = shard

    def _ship(self, journal: Path) -> Shipped:
        """Ships the journal of a finished shard once."""
        shipped = self._journals.get(journal)
        if shipped is None:
            try:
                blob = journal.read_bytes()
            except OSError as error:
                raise Failure(f"{journal}: cannot be read: {error.strerror}", "start again") from error
            shipped = Shipped(hashlib.sha256(blob).hexdigest(), journal.name)
            self._blobs[shipped.digest] = self._ray.put(blob)
            self._journals[journal] = shipped
        return shipped

    def wait(self, seconds: float) -> list[Answer | Lost]:
        """See `driver.Engine`."""
        tasks = list(self._tasks)
        ready, _ = self._ray.wait(tasks, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0)
        return [self._answer(task) for task in ready]

    def _answer(self, task: Any) -> Answer | Lost:
        shard = self._tasks.pop(task)
        try:
            answer = self._ray.get(task, timeout=60)
        except Exception as error:  # Ray raises what the task did, or one of some twenty errors of its own.
            lines = str(error).strip().splitlines() or [""]
            return Lost(shard, f"{type(error).__name__}: {lines[-1].strip()[:300]}")
        return Answer(*answer)

    def cancel(self) -> None:
        """See `driver.Engine`."""
        for task in self._tasks:
            self._ray.cancel(task, force=True)
        self._tasks.clear()

    def cpus(self) -> int:
        """See `driver.Engine`."""
        return int(self._ray.cluster_resources().get("CPU", 0))


def _task(order: Order, blobs: dict[str, Any]) -> tuple[Any, ...]:
    """Runs on a node. Returns plain values, because a node has its own classes."""
    import ray

    def fetch(digest: str) -> bytes:
        return bytes(ray.get(blobs[digest], timeout=300))

    return astuple(worker.run_shard(order, fetch))


def connect(address: str | None) -> Any:
    """Joins a cluster: `HOST:PORT`, `auto` for the one of this machine, `local` for a new one."""
    address = address or os.environ.get("RAY_ADDRESS") or "auto"
    if "://" in address:
        raise Failure(
            f"{address}: Ray client addresses are not supported",
            "run this on a machine of the cluster, with HOST:PORT or auto",
            WRONG_USAGE,
        )
    host, colon, port = address.rpartition(":")
    if colon:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, ValueError) as error:
            raise Failure(
                f"{address}: no cluster found: {error}", "start one with ray start --head"
            ) from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if address == "local" else None,
        )
    except ConnectionError as error:
        raise Failure(
            f"{address}: no cluster found: {str(error).splitlines()[0]}",
            "start one with ray start --head, or use --address local",
        ) from error
    return ray
