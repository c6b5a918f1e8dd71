"""Progress of long commands: a bar in a notebook or terminal, or a callback."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: ``None`` shows a bar in a notebook or terminal, ``False`` shows none. A function is called with the task, its progress and its total.
Progress = bool | None | Callable[[str, int, int], None]

_DELAY_S = 1.0


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and getattr(instance, "kernel", None) is not None


class Bar:
    """A bar that appears after one second, and disappears at the end."""

    def __init__(self, notebook: bool) -> None:
        self._notebook = notebook
        self._began = time.monotonic()
        self._handle: Any = None
        self._is_drawn = False

    def __call__(self, work: str, done: int, total: int) -> None:
        if time.monotonic() - self._began < _DELAY_S:
            return
        self._is_drawn = True
        share = done / total if total else 0.0
        if not self._notebook:
            filled = int(share * 30)
            sys.stderr.write(f"\r{work} [{'=' * filled}{' ' * (30 - filled)}] {share:4.0%}")
            sys.stderr.flush()
            return
        from IPython.display import HTML, display

        text = HTML(  # type: ignore[no-untyped-call]
            f"<div>{html.escape(work)} <progress value='{done}' max='{max(total, 1)}'></progress> {share:.0%}</div>"
        )
        if self._handle is None:
            self._handle = display(text, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(text)

    def close(self) -> None:
        """Removes the bar."""
        if not self._is_drawn:
            return
        if self._notebook:
            from IPython.display import HTML

            self._handle.update(HTML(""))  # type: ignore[no-untyped-call]
        else:
            sys.stderr.write("\r" + " " * 78 + "\r")
            sys.stderr.flush()


@contextmanager
def open_progress(progress: Progress) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yields the progress callback, or ``None`` without progress reports."""
    if callable(progress):
        yield progress
        return
    notebook = _in_notebook()
    if progress is False or not (progress or notebook or sys.stderr.isatty()):
        yield None
        return
    bar = Bar(notebook)
    try:
        yield bar
    finally:
        bar.close()
