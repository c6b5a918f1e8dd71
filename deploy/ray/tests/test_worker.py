"""Worker on a node, with a shell script instead of candlewick."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from candlewick_ray import cargo
from candlewick_ray.failure import Failure
from candlewick_ray.plan import Plan
from candlewick_ray.worker import Answer, Order, Shipped, execute, provide, run_shard
from tests.conftest import journal

# Writes its arguments and visible files into the journal of shard 2.
SCRIPT = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; --data) data=$2; shift;; --plan) plan=$2; shift;; esac; shift; done
{ cat "$plan" "${data#*=}" levels/a.csv; basename "$data"; env | grep CANDLEWICK_; } > "$out/shard-2.jsonl"
echo said >&2
exit ${CODE:-0}
"""  # noqa: E501


def ship(blobs: dict[str, bytes], blob: bytes, name: str) -> Shipped:
    digest = hashlib.sha256(blob).hexdigest()
    blobs[digest] = blob
    return Shipped(digest, name)


def order(blobs: dict[str, bytes], cache: Path, script: str = SCRIPT) -> Order:
    return Order(
        shard=2,
        command="sweep",
        program=ship(blobs, script.encode(), "candlewick"),
        plan=ship(blobs, b"the plan\n", "plan.json"),
        data=(("BTCUSDT@1m=", ship(blobs, b"candles\n", "prices.csv")),),
        files=(ship(blobs, b"levels\n", "levels/a.csv"),),
        arguments=(),
        threads=1,
        timeout_s=20,
        cache=str(cache),
    )


def test_shard_sees_plan_candles_and_files_but_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDLEWICK_RISK__MAX_STAKE", "1")
    blobs: dict[str, bytes] = {}
    answer = run_shard(order(blobs, tmp_path), blobs.__getitem__)
    assert (answer.code, answer.said) == (0, "said")
    assert answer.journal == b"the plan\ncandles\nlevels\nprices.csv\n"
    assert not list(tmp_path.glob("run-*/shard-*"))


def test_a_shard_of_a_later_round_has_the_journals_of_previous_rounds(tmp_path: Path) -> None:
    script = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
cat "$out/shard-1.jsonl" > "$out/shard-2.jsonl"
"""
    blobs: dict[str, bytes] = {}
    later = replace(order(blobs, tmp_path, script), before=(ship(blobs, b"first\n", "shard-1.jsonl"),))
    assert run_shard(later, blobs.__getitem__).journal == b"first\n"


def test_fetches_each_file_once_per_node(tmp_path: Path) -> None:
    blobs: dict[str, bytes] = {}
    fetched: list[str] = []

    def fetch(digest: str) -> bytes:
        fetched.append(digest)
        return blobs[digest]

    first = order(blobs, tmp_path)
    run_shard(first, fetch)
    assert sorted(fetched) == sorted(blobs)
    run_shard(first, fetch)
    assert len(fetched) == len(blobs)


def test_replaces_a_changed_file_and_refuses_a_wrong_one(tmp_path: Path) -> None:
    blobs: dict[str, bytes] = {}
    file = ship(blobs, b"right", "plan.json")
    path = provide(tmp_path, file, blobs.__getitem__)
    path.chmod(0o600)
    path.write_bytes(b"other")
    os.utime(path, ns=(1, 1))
    assert provide(tmp_path, file, blobs.__getitem__).read_bytes() == b"right"
    path.unlink()
    with pytest.raises(ValueError, match="does not have the hash"):
        provide(tmp_path, file, lambda _: b"wrong")
    assert not path.exists()


@pytest.mark.parametrize("code", [1, 2, 7])
def test_returns_the_exit_code_without_a_journal(tmp_path: Path, code: int) -> None:
    blobs: dict[str, bytes] = {}
    answer = run_shard(order(blobs, tmp_path, SCRIPT.replace("${CODE:-0}", str(code))), blobs.__getitem__)
    assert (answer.code, answer.journal, answer.said) == (code, b"", "said")


def test_kills_a_slow_command_with_its_children(tmp_path: Path) -> None:
    begun = time.monotonic()
    code, said = execute(["/bin/sh", "-c", "sleep 30 & echo $! > pid; wait"], tmp_path, 1)
    assert (code, said) == (None, "timeout after 1 s")
    assert time.monotonic() - begun < 10
    status = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    deadline = time.monotonic() + 5
    # The process is dead, but possibly not reaped yet.
    while status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_candle_argument_names_a_file_or_a_series(tmp_path: Path) -> None:
    assert cargo.candle_file("BTCUSDT_1m.csv") == ("", Path("BTCUSDT_1m.csv"))
    assert cargo.candle_file("BTCUSDT@1m=a/b.csv") == ("BTCUSDT@1m=", Path("a/b.csv"))
    assert cargo.candle_file("BTCUSDT@1m") == ("", None)
    assert cargo.candle_file("BTCUSDT@1m=s3://bucket/b.csv") == ("", None)
    assert cargo.candle_file("s3://bucket/BTCUSDT_1m.csv") == ("", None)


def test_missing_candles_have_the_exit_code_of_data(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read") as failed:
        cargo.load(plan, Path("/bin/sh"), (str(tmp_path / "none.csv"),), None)
    assert failed.value.code == 3


def test_answers_are_plain_values() -> None:
    answer = Answer(1, 0, journal(1, range(1)), "", "node", 1.0)
    assert Answer(*answer.__dict__.values()) == answer
