"""Retries and limits of the driver, with a scripted cluster and clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from candlewick_ray import driver
from candlewick_ray.driver import Limits, Lost
from candlewick_ray.failure import Failure
from candlewick_ray.folder import Folder
from candlewick_ray.plan import Plan, read_plan
from candlewick_ray.worker import Answer
from tests.conftest import journal, plan_value


class Scripted:
    """Answers each shard by a function of shard and attempt. Each wait takes ten seconds."""

    def __init__(self, plan: Plan, answer: Callable[[int, int], Answer | Lost | None], cpus: int = 2) -> None:
        self.plan, self.answer, self.cores = plan, answer, cpus
        self.submitted: list[int] = []
        self.waiting: list[int] = []
        self.most = 0
        self.before: list[Path] = []
        self.clock = 0.0
        self.is_cancelled = False

    def submit(self, shard: int, before: list[Path]) -> None:
        self.submitted.append(shard)
        self.before = before
        assert all(path.exists() for path in before)
        self.waiting.append(shard)
        self.most = max(self.most, len(self.waiting))

    def wait(self, seconds: float) -> list[Answer | Lost]:
        self.clock += 10
        for shard in self.waiting:
            found = self.answer(shard, self.submitted.count(shard))
            if found is not None:
                self.waiting.remove(shard)
                return [found]
        return []

    def cancel(self) -> None:
        self.is_cancelled = True

    def cpus(self) -> int:
        return self.cores


class Recorder:
    def __init__(self) -> None:
        self.retries: list[tuple[int, int]] = []
        self.done: list[int] = []

    def shard(self, folder: Folder, answer: Answer) -> None:
        self.done.append(answer.shard)

    def retry(self, shard: int, why: str, attempt: int) -> None:
        self.retries.append((shard, attempt))


def good(plan: Plan, shard: int) -> Answer:
    return Answer(shard, 0, journal(shard, plan.trials(shard)), "", "node", 1.0)


def bad(shard: int, code: int | None) -> Answer:
    return Answer(shard, code, b"", "why", "node", 1.0)


def go(
    folder: Folder, engine: Scripted, recorder: Recorder, limits: Limits | None = None, stop: bool = False
) -> None:
    driver.run(folder, engine, recorder, limits or Limits(), lambda: stop, lambda: engine.clock)


def test_runs_only_missing_shards(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "shard-2.jsonl").write_bytes(journal(2, plan.trials(2)))
    engine, recorder = Scripted(plan, lambda shard, _: good(plan, shard)), Recorder()
    folder = Folder.open(plan, tmp_path)
    go(folder, engine, recorder)
    assert (engine.submitted, recorder.done, folder.missing()) == ([1, 3], [1, 3], [])
    assert not engine.is_cancelled


@pytest.mark.parametrize("code", [1, 7, 101, -9, None])
def test_retries_a_failed_shard(plan: Plan, tmp_path: Path, code: int | None) -> None:
    def answer(shard: int, attempt: int) -> Answer:
        return bad(shard, code) if (shard, attempt) == (2, 1) else good(plan, shard)

    engine, recorder = Scripted(plan, answer), Recorder()
    go(Folder.open(plan, tmp_path), engine, recorder)
    assert (recorder.retries, sorted(engine.submitted)) == ([(2, 1)], [1, 2, 2, 3])


def test_lost_node_counts_as_an_attempt_of_its_shards(plan: Plan, tmp_path: Path) -> None:
    def answer(shard: int, attempt: int) -> Answer | Lost:
        return Lost(shard, "its node died") if attempt == 1 else good(plan, shard)

    engine, recorder = Scripted(plan, answer), Recorder()
    folder = Folder.open(plan, tmp_path)
    go(folder, engine, recorder)
    assert sorted(recorder.retries) == [(1, 1), (2, 1), (3, 1)]
    assert folder.missing() == []


def test_limits_attempts_and_keeps_finished_shards(plan: Plan, tmp_path: Path) -> None:
    engine = Scripted(plan, lambda shard, _: good(plan, 1) if shard == 1 else Lost(shard, "gone"))
    with pytest.raises(Failure, match="failed 3 times") as failed:
        go(Folder.open(plan, tmp_path), engine, Recorder(), Limits(attempts=3))
    assert failed.value.code == 1
    assert max(engine.submitted.count(shard) for shard in (2, 3)) == 3
    assert engine.is_cancelled
    assert Folder.open(plan, tmp_path).done == {1}


@pytest.mark.parametrize("code", [2, 3])
def test_refusal_ends_the_run_at_once_with_its_code(plan: Plan, tmp_path: Path, code: int) -> None:
    engine = Scripted(plan, lambda shard, _: bad(shard, code))
    with pytest.raises(Failure, match="was refused on node: why") as failed:
        go(Folder.open(plan, tmp_path), engine, Recorder())
    assert (failed.value.code, engine.submitted.count(1)) == (code, 1)
    assert engine.is_cancelled


def test_incomplete_journal_counts_as_a_failure(plan: Plan, tmp_path: Path) -> None:
    def answer(shard: int, attempt: int) -> Answer:
        whole = good(plan, shard)
        return whole if attempt > 1 else Answer(shard, 0, whole.journal[:-9], "", "node", 1.0)

    engine, recorder = Scripted(plan, answer), Recorder()
    go(Folder.open(plan, tmp_path), engine, recorder)
    assert len(recorder.retries) == 3


def test_interrupt_cancels_and_has_its_own_code(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(Failure) as failed:
        go(Folder.open(plan, tmp_path), Scripted(plan, lambda shard, _: None), Recorder(), stop=True)
    assert failed.value.code == 130


def test_gives_up_without_nodes(plan: Plan, tmp_path: Path) -> None:
    engine = Scripted(plan, lambda shard, _: None, cpus=0)
    with pytest.raises(Failure, match="no core for 300 s"):
        go(Folder.open(plan, tmp_path), engine, Recorder())
    assert engine.clock == 310
    assert engine.is_cancelled


def test_gives_up_without_an_answer(plan: Plan, tmp_path: Path) -> None:
    engine = Scripted(plan, lambda shard, _: None)
    with pytest.raises(Failure, match="no shard has ended for 50 s"):
        go(Folder.open(plan, tmp_path), engine, Recorder(), Limits(stall_s=50))
    assert engine.clock == 60


def test_submits_at_most_four_shards_per_core(write_plan: Callable[..., Path], tmp_path: Path) -> None:
    from candlewick_ray.plan import read_plan

    plan = read_plan(write_plan(sets=40, shards=40))

    def answer(shard: int, attempt: int) -> Answer:
        text = journal(shard, plan.trials(shard)).replace(f"[{shard}, 3]".encode(), f"[{shard}, 40]".encode())
        return Answer(shard, 0, text, "", "node", 1.0)

    engine = Scripted(plan, answer)
    go(Folder.open(plan, tmp_path), engine, Recorder())
    assert (engine.most, len(engine.submitted)) == (8, 40)


def test_round_waits_for_all_shards_of_the_previous_round(
    write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    arguments = plan_value()["arguments"] | {"search": "tpe"}
    plan = read_plan(write_plan(sets=18, shards=9, rounds=3, arguments=arguments))

    def answer(shard: int, attempt: int) -> Answer | Lost:
        # The first attempt of one shard of each round is lost with its node.
        if (shard % 3, attempt) == (2, 1):
            return Lost(shard, "its node died")
        text = journal(shard, range(2 * shard - 2, 2 * shard), after="hash", shards=9)
        return Answer(shard, 0, text, "", "node", 1.0)

    engine, recorder = Scripted(plan, answer, cpus=8), Recorder()
    folder = Folder.open(plan, tmp_path / "out")
    go(folder, engine, recorder)
    assert engine.submitted == [1, 2, 3, 2, 4, 5, 6, 5, 7, 8, 9, 8]
    assert [path.name for path in engine.before] == [f"shard-{shard}.jsonl" for shard in range(1, 7)]
    assert folder.missing() == []
    # A restarted driver resumes in the incomplete round.
    (tmp_path / "out/shard-5.jsonl").unlink()
    engine, folder = Scripted(plan, answer), Folder.open(plan, tmp_path / "out")
    go(folder, engine, recorder)
    assert engine.submitted == [5, 5]


def test_refuses_rounds_that_do_not_divide_the_shards(write_plan: Callable[..., Path]) -> None:
    with pytest.raises(Failure, match="not so many for each of 2 rounds"):
        read_plan(write_plan(shards=9, rounds=2))
