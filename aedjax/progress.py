"""What a person sees while a sweep runs: a bar in a terminal, plain lines elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from aedjax.errors import reason
from aedjax.sweep.plan import Unit
from aedjax.sweep.reporter import Reporter

LINE_SECONDS = 4.0
"""Seconds between two lines where the output is no terminal."""


class ProgressReporter(Reporter):
    """Tells a console how far a sweep is; the context manager ends the bar.

    A bar counts model-steps (training steps summed over members), with their rate and the time
    left, from the training alone: compilation is announced and does not count.
    """

    def __init__(self, console: Console):
        self.console = console
        self.done = self.total = self.units = self.units_done = 0
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
        self.bar_task = self.bar.add_task("", total=None, rate=0.0)

    def __enter__(self) -> "ProgressReporter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def planned(self, runs: int, groups: int, units: int, finished: int, model_steps: int) -> None:
        """Say what is to be done."""
        there = f" ({finished} of {units} units are there already)" if finished else ""
        self.console.print(
            f"{runs} runs in {groups} groups and {units} units, "
            f"{model_steps:,} model-steps to go{there}"
        )
        self.total, self.units, self.units_done = model_steps, units, finished
        self.bar.update(self.bar_task, total=model_steps)
        self.bar.start()

    def compiling(self, what: str) -> None:
        """Announce a compilation, which can take seconds in which nothing else is said."""
        self._say(f"compiling {what}", line=True)

    def analysing(self, step: int) -> None:
        """Say that an analysis is under way; outside a terminal, if nothing was said of late."""
        self._say(f"analysing at step {step:,}", line=self._quiet())

    def advanced(self, model_steps: int, diverged: int) -> None:
        """Count trained steps; outside a terminal, print a line every few seconds."""
        self.training_seconds += time.monotonic() - self.resumed
        self.done += model_steps
        rate = self.done / max(self.training_seconds, 1e-9)
        left = max(0, self.total - self.done) / rate
        wild = f", {diverged} diverged in this unit" if diverged else ""
        self.bar.update(self.bar_task, completed=self.done, rate=rate)
        units = f"{self.units_done} of {self.units} units"
        self._say(
            f"{units}, training{wild}",
            f"{units}, {self.done:,} of {self.total:,} model-steps, {rate:,.0f}/s, "
            f"{left:.0f} s left{wild}",
            line=self._quiet() or self.done >= self.total,
        )

    def resumed_at(self, model_steps: int) -> None:
        """Count steps that were trained before: they say nothing of the rate."""
        self.total -= model_steps
        self.bar.update(self.bar_task, total=self.total)

    def finished(self, unit: Unit) -> None:
        """Count a unit."""
        self.units_done += 1

    def note(self, text: str) -> None:
        """Say something worth a line."""
        self.console.print(text, markup=False)
        self.printed = self.resumed = time.monotonic()

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
        self.console.print(f"unit {unit.id} failed: {reason(error)}", style="red", markup=False)
