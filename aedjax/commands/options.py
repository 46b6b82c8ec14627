"""What several commands share: kinds of options, and printing for people or for programs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from aedjax.errors import InputError

if TYPE_CHECKING:
    from aedjax.sweep.worker import WorkerOptions

Folder = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
"""The folder of a sweep."""

Repeated = Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="KEY=VALUE")]
"""An option that may be given several times."""

Settings = Annotated[
    tuple[str, ...],
    tyro.conf.UseAppendAction,
    tyro.conf.arg(name="set", metavar="SECTION.KEY=VALUE"),
]
"""Settings of a spec to replace."""

Quiet = Annotated[bool, tyro.conf.arg(help="Say nothing of the progress.")]
"""Whether to keep silent until the end."""


@dataclass(frozen=True)
class RunningOptions:
    """How units are run; none of it changes a result."""

    memory: Annotated[str | None, tyro.conf.arg(metavar="SIZE")] = None
    """Memory of a device that may be used, as 16GiB; nearly all unless given."""
    checkpoint_minutes: float = 5.0
    """Minutes between two checkpoints of a unit."""
    checkpoint_steps: int = 0
    """Training steps between two checkpoints of a unit; 0: minutes alone count."""
    fail_fast: bool = False
    """End at the first unit that fails."""
    keep_going: bool = False
    """Go on with the other units after one has failed, as is done anyway."""
    no_cache: bool = False
    """Compile anew, and keep no compiled program for later runs."""
    quiet: Quiet = False

    def arguments(self) -> list[str]:
        """The same as a command line."""
        flags = ("fail_fast", "keep_going", "no_cache", "quiet")
        return [
            f"--checkpoint-minutes={self.checkpoint_minutes}",
            f"--checkpoint-steps={self.checkpoint_steps}",
            *([] if self.memory is None else [f"--memory={self.memory}"]),
            *(f"--{flag.replace('_', '-')}" for flag in flags if getattr(self, flag)),
        ]

    def options(self, begin: float = 0.0, wait: bool = True) -> "WorkerOptions":
        """The same as a worker takes it.

        Raises:
            InputError: for a value that is out of range.
        """
        from aedjax.sweep.memory import parse_bytes
        from aedjax.sweep.worker import WorkerOptions

        for name, value in (
            ("checkpoint_minutes", self.checkpoint_minutes),
            ("checkpoint_steps", self.checkpoint_steps),
        ):
            if not 0 <= value < float("inf"):
                raise InputError(f"{name} = {value} is out of range; use 0 or more")
        if self.fail_fast and self.keep_going:
            raise InputError("fail_fast and keep_going exclude each other; give one of them")
        if not 0 <= begin < 1:
            raise InputError(f"begin = {begin} is out of range; use 0 or more and less than 1")
        memory = None if self.memory is None else parse_bytes("memory", self.memory)
        return WorkerOptions(
            self.checkpoint_steps, self.checkpoint_minutes, memory, self.fail_fast, wait, begin
        )


Running = Annotated[RunningOptions, tyro.conf.arg(name="")]
"""The options of how units are run, among a command's own."""

WIDEST = 100_000
"""Columns within which any table finds its place."""


def print_table(table: Table, lines: Sequence[Text] = ()) -> None:
    """Print a table as wide as the terminal, but never so narrow that a column is lost, and the
    lines below it."""
    console = Console()
    console.width = max(console.width, _least_width(console, table))
    console.print(table, *lines)


def _least_width(console: Console, table: Table) -> int:
    """The width at which every word of a table is whole, and every cell that does not wrap."""
    wide = console.options.update(width=WIDEST)
    _, right, _, left = table.padding
    # A rule or its place stands before, between and behind the columns.
    width = 1 + len(table.columns) * (1 + left + right)
    for column in table.columns:
        sizes = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
        width += max(size.maximum if column.no_wrap else size.minimum for size in sizes)
    return width


def show(as_json: bool, content: Any, people: Callable[[], None]) -> None:
    """Print `content` as JSON, or let `people` print it."""
    if as_json:
        print(json.dumps(content, allow_nan=False))
    else:
        people()


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The keys and values of an option given as KEY=VALUE.

    Raises:
        InputError: for a text without "=".
    """
    for text in texts:
        if "=" not in text:
            raise InputError(f"{option} = {text!r} has no '='; write it as KEY=VALUE")
    return dict(text.split("=", 1) for text in texts)
