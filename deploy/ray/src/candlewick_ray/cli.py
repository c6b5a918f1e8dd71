"""The command `candlewick-ray`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from candlewick_ray import cargo, cluster, driver
from candlewick_ray.failure import DONE, INTERRUPTED, WRONG_USAGE, Failure
from candlewick_ray.folder import Folder
from candlewick_ray.merge import merge
from candlewick_ray.plan import COMMANDS, read_plan
from candlewick_ray.progress import Lines, Objects


class Stop:
    """Whether somebody asked to stop: Ctrl-C or SIGTERM. A second Ctrl-C ends at once."""

    def __init__(self) -> None:
        """Nobody did."""
        self.is_asked = False

    def listen(self) -> None:
        """Takes the signals."""
        signal.signal(signal.SIGINT, self._ask)
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    top = argparse.ArgumentParser(prog="candlewick-ray", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        title = command.replace("-", " ")
        one = commands.add_parser(
            command,
            help=f"run the shards of a {title} on a Ray cluster, and merge them",
            description=f"Runs the shards of a {title}'s plan that the folder lacks on a Ray cluster, and "
            "merges them. Stopped or killed, the same command goes on. Exit codes are those of candlewick.",
        )
        add_arguments(one, command)
    return top


def add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    """Those of a command."""
    add = command.add_argument
    add(
        "--plan",
        type=Path,
        required=True,
        metavar="FILE",
        help=f"the plan, as candlewick {name} plan wrote it",
    )
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the shards and the results [default: that of the plan]",
    )
    add("--binary", metavar="FILE", help="the candlewick that made the plan [default: that of the PATH]")
    add(
        "--address",
        help="HOST:PORT of the cluster, auto, or local for one of its own [default: RAY_ADDRESS, or auto]",
    )
    add(
        "--data",
        action="append",
        default=[],
        metavar="FILE",
        help="candle file, which is shipped; repeatable [default: as in the plan]",
    )
    add(
        "--catalog",
        metavar="DIR",
        help="catalog of the candles, in the same place on every node; it is not shipped",
    )
    add("--threads", type=positive, default=1, metavar="N", help="cores that a shard takes [default: 1]")
    add(
        "--attempts",
        type=positive,
        default=5,
        metavar="N",
        help="how often a shard is tried that fails or is lost [default: 5]",
    )
    add(
        "--shard-timeout",
        type=positive,
        default=3_600,
        metavar="S",
        help="seconds that a shard may take [default: 3600]",
    )
    add(
        "--node-timeout",
        type=positive,
        default=300,
        metavar="S",
        help="seconds to wait for nodes when there are none [default: 300]",
    )
    add(
        "--merge-timeout",
        type=positive,
        default=3_600,
        metavar="S",
        help="seconds that the merge may take [default: 3600]",
    )
    add(
        "--cache",
        metavar="DIR",
        help="where nodes keep what is shipped [default: candlewick-ray-UID in the temporary folder]",
    )
    if name == "sweep":
        add(
            "--top",
            type=positive,
            default=10,
            metavar="N",
            help="how many of the best sets are shown [default: 10]",
        )
    add("--json", action="store_true", help="print events on stdout, a JSON object a line")
    add("-q", "--quiet", action="store_true", help="no progress")


def positive(text: str) -> int:
    """A whole number from 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def run(arguments: argparse.Namespace, stop: Stop) -> None:
    """Runs what is missing, and merges. A `Failure` says why not."""
    plan = read_plan(arguments.plan)
    if plan.command != arguments.command:
        raise Failure(
            f"{plan.path}: it is the plan of {plan.command}", f"candlewick-ray {plan.command}", WRONG_USAGE
        )
    program = cargo.find_program(arguments.binary)
    shipped = cargo.load(plan, program, tuple(arguments.data), arguments.catalog)
    folder = Folder.open(plan, arguments.out or arguments.plan.parent)
    watcher = Objects(arguments.quiet) if arguments.json else Lines(arguments.quiet)
    if folder.missing():
        if not cargo.is_static(shipped.blobs[shipped.program.digest]):
            watcher.note(
                f"{program} is not linked statically: every node needs the libraries that it asks for"
            )
        ray = cluster.connect(arguments.address)
        try:
            stop.listen()
            engine = cluster.Cluster(
                ray, plan.command, shipped, arguments.threads, arguments.shard_timeout, arguments.cache
            )
            watcher.begun(folder, engine.cpus(), shipped.size())
            limits = driver.Limits(arguments.attempts, arguments.shard_timeout + 60, arguments.node_timeout)
            driver.run(folder, engine, watcher, limits, lambda: stop.is_asked)
        except Exception as error:
            if type(error).__module__.startswith("ray"):
                raise Failure(f"the cluster is gone: {error}", "the same command goes on") from error
            raise
        finally:
            ray.shutdown()
    stop.listen()
    place = ["--plan", str(plan.path), "--out", str(folder.path)]
    place += ["--top", str(arguments.top)] if plan.command == "sweep" else []
    for one in arguments.data:
        place += ["--data", one]
    if arguments.catalog:
        place += ["--catalog", arguments.catalog]
    place += ["--json"] if arguments.json else []
    place += ["--quiet"] if arguments.quiet else []
    watcher.merged(merge(program, plan.command, place, arguments.merge_timeout, lambda: stop.is_asked))


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; the exit code."""
    try:
        run(parser().parse_args(arguments), Stop())
    except Failure as failure:
        print(failure.text(), file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print(Failure("interrupted", "the same command goes on").text(), file=sys.stderr)
        return INTERRUPTED
    return DONE


if __name__ == "__main__":
    sys.exit(main())
