"""Fixtures: the program of the wheel, and reproducible candles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import candlewick

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def program() -> str:
    """The command line program of the wheel, or of TESTED_CANDLEWICK."""
    sibling = Path(sys.executable).with_name("candlewick")
    found = os.environ.get("TESTED_CANDLEWICK") or (str(sibling) if sibling.exists() else shutil.which("candlewick"))
    assert found, "no program in the wheel: set TESTED_CANDLEWICK"
    return found


@pytest.fixture
def run(program: str) -> Callable[..., str]:
    """Runs the program and returns its output."""

    def run(*arguments: str | os.PathLike[str]) -> str:
        ran = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


@pytest.fixture(scope="session")
def candles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four days of candles in a file."""
    folder = tmp_path_factory.mktemp("candles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / ".state"))
        candlewick.data.generate("BTCUSDT", days=4, seed=7, out=str(folder))
    return folder / "BTCUSDT_1m.csv"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test in its own folder, on all candles and without settings of the machine."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CANDLEWICK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".state"))
    monkeypatch.setenv("CANDLEWICK_EVIDENCE__SEAL", "false")
