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
    """Stop requests by Ctrl-C or SIGTERM. A second Ctrl-C quits immediately."""

    def __init__(self) -> None:
        """Starts without a request."""
        self.is_asked = False

    def listen(self) -> None:
        """Installs the signal handlers."""
        signal.signal(signal.SIGINT, self._ask)
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def parser() -> argparse.ArgumentParser:
    """Builds the argument parser."""
    top = argparse.ArgumentParser(prog="candlewick-ray", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        title = command.replace("-", " ")
        one = commands.add_parser(
            command,
            help=f"run the shards of a {title} on a Ray cluster and merge them",
            description=f"Runs the missing shards of a {title}'s plan on a Ray cluster and "
            "merges them. Repeat the command to resume. Exit codes are those of candlewick.",
        )
        add_arguments(one, command)
    return top


def add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    """Adds the arguments of a command."""
    add = command.add_argument
    add(
        "--plan",
        type=Path,
        required=True,
        metavar="FILE",
        help=f"plan written by candlewick {name} plan",
    )
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of shards and results [default: folder of the plan]",
    )
    add("--binary", metavar="FILE", help="candlewick that made the plan [default: from the PATH]")
    add(
        "--address",
        help="HOST:PORT of the cluster, auto, or local for a new one [default: RAY_ADDRESS, or auto]",
    )
    add(
        "--data",
        action="append",
        default=[],
        metavar="FILE",
        help="candle file to ship; repeatable [default: as in the plan]",
    )
    add(
        "--catalog",
        metavar="DIR",
        help="catalog of the candles, at the same path on every node; not shipped",
    )
    add("--threads", type=positive, default=1, metavar="N", help="cores per shard [default: 1]")
    add(
        "--attempts",
        type=positive,
        default=5,
        metavar="N",
        help="attempts per shard [default: 5]",
    )
    add(
        "--shard-timeout",
        type=positive,
        default=3_600,
        metavar="S",
        help="maximum seconds per shard [default: 3600]",
    )
    add(
        "--node-timeout",
        type=positive,
        default=300,
        metavar="S",
        help="maximum seconds without a node [default: 300]",
    )
    add(
        "--merge-timeout",
        type=positive,
        default=3_600,
        metavar="S",
        help="maximum seconds for the merge [default: 3600]",
    )
    add(
        "--cache",
        metavar="DIR",
        help="folder of shipped files on the nodes [default: candlewick-ray-UID in the temporary folder]",
    )
    if name == "sweep":
        add(
            "--top",
            type=positive,
            default=10,
            metavar="N",
            help="number of best sets to show [default: 10]",
        )
    add("--json", action="store_true", help="print events as JSON lines on stdout")
    add("-q", "--quiet", action="store_true", help="hide progress")


def positive(text: str) -> int:
    """Parses a whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def run(arguments: argparse.Namespace, stop: Stop) -> None:
    """Runs the missing shards and merges them. Raises `Failure`."""
    plan = read_plan(arguments.plan)
    if plan.command != arguments.command:
        raise Failure(
            f"{plan.path}: this is a plan of {plan.command}",
            f"run candlewick-ray {plan.command}",
            WRONG_USAGE,
        )
    program = cargo.find_program(arguments.binary)
    shipped = cargo.load(plan, program, tuple(arguments.data), arguments.catalog)
    folder = Folder.open(plan, arguments.out or arguments.plan.parent)
    watcher = Objects(arguments.quiet) if arguments.json else Lines(arguments.quiet)
    if folder.missing():
        if not cargo.is_static(shipped.blobs[shipped.program.digest]):
            watcher.note(f"{program} is not linked statically: every node needs its libraries")
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
                raise Failure(f"lost the cluster: {error}", "repeat the command to resume") from error
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
    """Runs the command and returns its exit code."""
    try:
        run(parser().parse_args(arguments), Stop())
    except Failure as failure:
        print(failure.text(), file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print(Failure("interrupted", "repeat the command to resume").text(), file=sys.stderr)
        return INTERRUPTED
    return DONE


if __name__ == "__main__":
    sys.exit(main())
