"""Folder of finished shards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from candlewick_ray.failure import Failure
from candlewick_ray.folder import Best, Folder
from candlewick_ray.plan import Plan, read_plan
from tests.conftest import IDENTITY, figures, journal

# Ten sets in three shards, computed by hand.
TRIALS = {1: range(0, 3), 2: range(3, 6), 3: range(6, 10)}


def test_splits_ten_sets_into_three_shards_like_candlewick(plan: Plan) -> None:
    assert {shard: plan.trials(shard) for shard in (1, 2, 3)} == TRIALS


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": 1}', '{"format": 3, "sets": 1}'],
)
def test_rejects_an_invalid_plan_as_wrong_usage(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(Failure, match="not a plan of shards") as refused:
        read_plan(tmp_path / "plan.json")
    assert refused.value.code == 2


def test_refuses_plan_without_shards_and_missing_plan_file(
    write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(Failure, match="no shards"):
        read_plan(write_plan(shards=0))
    with pytest.raises(Failure, match="cannot be read") as refused:
        read_plan(tmp_path / "none.json")
    assert refused.value.code == 2


def test_does_not_repeat_complete_shards(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "shard-2.jsonl").write_bytes(journal(2, TRIALS[2]))
    folder = Folder.open(plan, tmp_path)
    assert (folder.missing(), folder.done) == ([1, 3], {2})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        journal(2, TRIALS[2])[:40],
        journal(2, range(3, 5)),
        journal(2, TRIALS[2])[:-5],
        journal(2, range(3, 5)) + b'{"trial": 5, "rung": 1, "figures": null}\n',
    ],
)
def test_repeats_a_truncated_shard(plan: Plan, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "shard-2.jsonl").write_bytes(text)
    assert Folder.open(plan, tmp_path).missing() == [1, 2, 3]


@pytest.mark.parametrize(
    "text", [journal(2, TRIALS[2], program="xyz"), journal(3, TRIALS[3]), journal(2, TRIALS[2], seed=1)]
)
def test_refuses_a_shard_of_another_sweep_and_keeps_it(plan: Plan, tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "shard-2.jsonl"
    file.write_bytes(text)
    with pytest.raises(Failure, match="another sweep or program") as refused:
        Folder.open(plan, tmp_path)
    assert (refused.value.code, file.read_bytes()) == (2, text)


def test_stores_shards_atomically(plan: Plan, tmp_path: Path) -> None:
    folder = Folder.open(plan, tmp_path / "out")
    assert not folder.put(1, journal(1, range(0, 2)))
    assert list(folder.path.iterdir()) == []
    assert folder.put(1, journal(1, TRIALS[1]))
    assert [file.name for file in folder.path.iterdir()] == ["shard-1.jsonl"]
    assert (folder.path / "shard-1.jsonl").read_bytes() == journal(1, TRIALS[1])
    assert folder.missing() == [2, 3]


def test_best_set_has_the_highest_score_among_those_with_enough_trades(plan: Plan, tmp_path: Path) -> None:
    folder = Folder.open(plan, tmp_path)
    lucky = {"trial": 2, "rung": 0, "figures": figures(0.9, won=9)}
    folder.put(1, journal(1, range(0, 2)) + json.dumps(lucky).encode() + b"\n")
    assert folder.best == Best(0.011, 1, 1)
    folder.put(3, journal(3, TRIALS[3], edge=-0.5))
    assert folder.best == Best(0.011, 1, 1)


def test_penalised_profit_is_profit_less_drawdown(write_plan: Callable[..., Path], tmp_path: Path) -> None:
    arguments = {
        "objective": "drawdown-penalised",
        "min_trades": 1,
        "search": "grid",
        "data": [],
        "catalog": None,
    }
    folder = Folder.open(read_plan(write_plan(arguments=arguments)), tmp_path)
    folder.put(1, journal(1, TRIALS[1]))
    assert folder.best == Best(2.0, 0, 1)


def test_walk_has_its_sets_in_every_window(write_plan: Callable[..., Path], tmp_path: Path) -> None:
    walk = {"command": "walk-forward", "shards": 6, "walk": {"windows": 2}}
    plan = read_plan(write_plan(**walk))
    assert [plan.trials(shard) for shard in range(1, 7)] == [*TRIALS.values(), *TRIALS.values()]
    # Journals of a walk name their window; the shard still belongs to this plan.
    head = {"sweep": IDENTITY | {"shard": [4, 6], "window": [0, 60_000]}}
    lines = [head, *({"trial": trial, "rung": 0, "refused": "no"} for trial in plan.trials(4))]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    folder = Folder.open(plan, tmp_path / "out")
    assert folder.put(4, text)
    assert folder.missing() == [1, 2, 3, 5, 6]
    with pytest.raises(Failure, match="another sweep or program"):
        folder.put(5, text)


def test_refuses_a_plan_that_this_driver_cannot_run(write_plan: Callable[..., Path]) -> None:
    for wrong in ({"command": "bake"}, {"shards": 5, "walk": {"windows": 2}}, {"format": 2}):
        with pytest.raises(Failure, match="not a plan of shards"):
            read_plan(write_plan(**wrong))


@pytest.mark.parametrize("command", ["monte-carlo", "sensitivity"])
def test_paths_and_settings_have_shards_but_no_best_set(
    write_plan: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    arguments: dict[str, object] = {"resampling": "trades", "data": [], "catalog": None}
    plan = read_plan(write_plan(command=command, arguments=arguments))
    head = {"sweep": IDENTITY | {"shard": [3, 3]}}
    lines = [head, *({"trial": path, "rung": 0, "final_balance": 9.5} for path in TRIALS[3])]
    folder = Folder.open(plan, tmp_path / "out")
    assert folder.put(3, "".join(json.dumps(line) + "\n" for line in lines).encode())
    assert folder.best is None
