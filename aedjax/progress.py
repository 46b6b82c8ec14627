"""What a person sees while a sweep runs: a bar in a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from aedjax.sweep.plan import Plan, Unit

LINE_SECONDS = 4.0
"""Seconds between two lines where the output is no terminal."""


class ProgressReporter:
    """Tells a console how far a sweep is; the context manager ends the bar.

    A bar counts model-steps (training steps summed over members), with their rate and the time
    left, from the training alone: compilation is announced and does not count.
    """

    def __init__(self, console: Console):
        self.console = console
        self.done = self.total = 0
        self.training_seconds = 0.0
        self.resumed = self.printed = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("model-steps, {task.fields[rate]:,.0f}/s"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> "ProgressReporter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def planned(self, plan: Plan, pending: int, model_steps: int) -> None:
        """Say what is to be done."""
        runs = sum(len(unit.members) for unit in plan.units)
        finished = len(plan.units) - pending
        note = f" ({finished} of {len(plan.units)} units are there already)" if finished else ""
        self.console.print(
            f"{runs} runs in {len(plan.groups)} groups, {model_steps:,} model-steps to go{note}"
        )
        self.total = model_steps
        self.bar_task = self.bar.add_task("training", total=model_steps, rate=0.0)
        self.bar.start()

    def compiling(self, what: str) -> None:
        """Announce a compilation, which can take seconds in which nothing else is said."""
        self._say(f"compiling {what}", line=True)

    def analysing(self, step: int) -> None:
        """Say that an analysis is under way; outside a terminal, if nothing was said of late."""
        self._say(f"analysing at step {step:,}", line=self._quiet())

    def advanced(self, model_steps: int) -> None:
        """Count trained steps; outside a terminal, print a line every few seconds."""
        self.training_seconds += time.monotonic() - self.resumed
        self.done += model_steps
        rate = self.done / max(self.training_seconds, 1e-9)
        left = (self.total - self.done) / rate
        self.bar.update(self.bar_task, completed=self.done, rate=rate)
        self._say(
            "training",
            f"{self.done:,} of {self.total:,} model-steps, {rate:,.0f}/s, {left:.0f} s left",
            line=self._quiet() or self.done >= self.total,
        )

    def _quiet(self) -> bool:
        return time.monotonic() - self.printed >= LINE_SECONDS

    def _say(self, what: str, details: str = "", *, line: bool) -> None:
        """Show what is going on: in the bar, or as a line where there is none."""
        self.bar.update(self.bar_task, description=what)
        if line and not self.console.is_terminal:
            self.console.print(details or what)
            self.printed = time.monotonic()
        self.resumed = time.monotonic()

    def failed(self, unit: Unit, error: Exception) -> None:
        """Report a unit that failed; the sweep goes on without it."""
        reason: Any = str(error).splitlines()[0] if str(error) else type(error).__name__
        self.console.print(f"unit {unit.id} failed: {reason}", style="red", markup=False)
