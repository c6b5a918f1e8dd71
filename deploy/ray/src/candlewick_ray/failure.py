"""What ends a command, with the exit code that candlewick has for it."""

from __future__ import annotations

DONE = 0
UNEXPECTED = 1
WRONG_USAGE = 2
UNUSABLE_DATA = 3
INTERRUPTED = 130

#: Codes with which a shard says that running it again changes nothing.
REFUSALS = frozenset({WRONG_USAGE, UNUSABLE_DATA})


class Failure(Exception):
    """Ends the command: what is wrong, the way out, and the exit code."""

    def __init__(self, problem: str, way_out: str = "", code: int = UNEXPECTED) -> None:
        """`problem` and `way_out` are sentences without a full stop."""
        super().__init__(problem)
        self.problem = problem
        self.way_out = way_out
        self.code = code

    def text(self) -> str:
        """As candlewick prints its own."""
        hint_line = f"\nhint: {self.way_out}" if self.way_out else ""
        return f"error: {self.problem}{hint_line}"
