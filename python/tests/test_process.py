"""The module in a process: Ctrl-C, the GIL, and the command line with strategies."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from ported import EmaCrossPort

import candlewick

HERE = Path(__file__).parent


def test_ctrl_c_raises_keyboard_interrupt_in_a_search(candles: Path) -> None:
    code = f"""
import candlewick
def tell(work, done, total):
    print(work, done, flush=True)
try:
    candlewick.sweep("rsi-reversal", search=dict(period="2..200", oversold="10..40", overbought="60..90"),
                     candles={{"BTCUSDT@1m": {str(candles)!r}}}, close_type="05:00", trials=20_000, progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Sweeping"):
                break
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
    assert "interrupted" in rest
    assert time.monotonic() - begun < 10


def test_ctrl_c_stops_a_live_run_with_its_result(candles: Path) -> None:
    code = f"""
import os, signal, threading, sys
sys.path.insert(0, {str(HERE)!r})
import candlewick
from ported import EmaCrossPort
threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()
candles = {{"BTCUSDT@1m": {str(candles)!r}}}
run = candlewick.live(EmaCrossPort, sandbox=True, candles=candles, close_type="05:00", speed=600, journal="run.db")
assert run["event"] == "ended" and run["stop"] == "interrupted", run
print("held", candlewick.parity("run.db", strategies=[EmaCrossPort])["unexplained"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "held 0" in ran.stdout, ran.stderr


def test_exception_ends_a_long_live_run(candles: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import candlewick
from ported import Nonsense
try:
    candlewick.live(Nonsense, sandbox=True, candles={{"BTCUSDT@1m": {str(candles)!r}}}, close_type="05:00", speed=60)
except TypeError as error:
    print("ended by:", error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=40, check=False)
    assert "ended by: on_candle returned 'buy'" in ran.stdout, ran.stderr


def test_other_threads_run_during_a_backtest(candles: Path) -> None:
    counted = 0
    is_done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_done.wait(0.0005):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        begun = time.monotonic()
        before = counted
        while time.monotonic() - begun < 1 and counted - before < 20:
            candlewick.backtest("rsi-reversal", candles={"BTCUSDT@1m": candles}, close_type="05:00")
    finally:
        is_done.set()
        thread.join()
    assert counted - before >= 20


def test_command_line_knows_strategies_in_python(candles: Path) -> None:
    command = [sys.executable, "-m", "candlewick", "--strategy", f"{HERE / 'ported.py'}:EmaCrossPort"]
    listed = subprocess.run([*command, "strategy", "show", "ema-cross-port"], capture_output=True, text=True, check=True)
    assert "1 to 500" in listed.stdout
    assert "Follows the crossing of two averages." in listed.stdout
    wrong = subprocess.run([*command[:-1], "nowhere.py:None"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "nowhere.py" in wrong.stderr


def test_app_returns_the_exit_code_of_its_command() -> None:
    app = candlewick.App().with_strategy(EmaCrossPort)
    assert app.run(["strategy", "show", "ema-cross-port"]) == 0
    assert app.run(["strategy", "show", "no-such-strategy"]) == 2
    assert app.run(["no-such-command"]) == 2
