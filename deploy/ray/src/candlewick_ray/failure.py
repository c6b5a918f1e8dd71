"""Errors that end a command, with exit codes of candlewick."""

from __future__ import annotations

DONE = 0
UNEXPECTED = 1
WRONG_USAGE = 2
UNUSABLE_DATA = 3
INTERRUPTED = 130

#: Exit codes of a shard that a retry cannot fix.
REFUSALS = frozenset({WRONG_USAGE, UNUSABLE_DATA})


class Failure(Exception):
    """Error that ends the command, with a hint and an exit code."""

    def __init__(self, problem: str, way_out: str = "", code: int = UNEXPECTED) -> None:
        """`problem` and `way_out` have no final period."""
        super().__init__(problem)
        self.problem = problem
        self.way_out = way_out
        self.code = code

    def text(self) -> str:
        """As candlewick prints its own."""
        hint_line = f"\nhint: {self.way_out}" if self.way_out else ""
        return f"error: {self.problem}{hint_line}"
