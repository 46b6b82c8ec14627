"""What the commands that train share: run, draw, and say what came out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Bool
from rich.console import Console

from aedjax.commands.devices import ready
from aedjax.commands.options import RunningOptions, print_table, show
from aedjax.errors import FailureError, InputError
from aedjax.figures import draw_all
from aedjax.figures.examples import examples_of
from aedjax.progress import ProgressReporter
from aedjax.stats.summary import render_summary, summary
from aedjax.sweep.dataset import TRAINED, consolidate
from aedjax.sweep.executors import start_workers, wait_for
from aedjax.sweep.identity import used_settings
from aedjax.sweep.record import read_record
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.run import Outcome, open_sweep, outcome_of, report_plan, run_sweep
from aedjax.sweep.spec import Spec
from aedjax.sweep.status import counts, sweep_status
from aedjax.sweep.stop import Stop, stopping_on_signals
from aedjax.sweep.worker import Worker as SweepWorker
from aedjax.tasks import TaskConfig, make_task, train_test_overlap


class Cut(NamedTuple):
    """How a new sweep is cut, and by how many processes of this machine it is run."""

    width: int | None = None
    tune: bool = False
    workers: int = 1


@contextmanager
def reporting(quiet: bool) -> Iterator[Reporter]:
    """Progress on standard error, or none, not even of failures, which the end tells of."""
    if quiet:
        yield Reporter()
        return
    with ProgressReporter(Console(stderr=True, soft_wrap=True, highlight=False)) as report:
        yield report


def run_and_show(spec: Spec, folder: Path, cut: Cut, running: RunningOptions, as_json: bool) -> int:
    """Run a sweep with progress on standard error; print its table and the paths of its figures.

    Returns:
        the exit code: 0, or 1 where a unit failed. Diverged runs are counted in the table.
    """
    if cut.workers < 1 or (cut.width is not None and cut.width < 1):
        name, value = ("workers", cut.workers) if cut.workers < 1 else ("width", cut.width)
        raise InputError(f"{name} = {value} is too small; use at least 1")
    options = running.options()
    ready(folder, running.no_cache)
    with reporting(running.quiet) as report, stopping_on_signals() as stop:
        if cut.workers == 1:
            outcome = run_sweep(spec, folder, report, options, cut.width, cut.tune, stop)
        else:
            outcome = run_with_workers(spec, folder, report, running, cut, stop)
    return show_outcome(spec, folder, outcome, running.quiet, as_json)


def run_with_workers(
    spec: Spec, folder: Path, report: Reporter, running: RunningOptions, cut: Cut, stop: Stop
) -> Outcome:
    """Run a sweep by several processes of this machine, which share its folder."""
    record = open_sweep(spec, folder, report, cut.width, cut.tune, cut.workers)
    report_plan(folder, record, report)
    processes = start_workers(folder, cut.workers, running.arguments())
    codes = wait_for(processes, lambda: stop.requested)
    if stop.requested:
        raise KeyboardInterrupt
    found = counts(sweep_status(folder, record))
    left = found["running"] + found["pending"]
    if left:
        raise FailureError(
            f"{left} of {sum(found.values())} runs are left, since workers ended with exit codes "
            f"{', '.join(map(str, codes))}; what they said is above; the same command goes on"
        )
    return outcome_of(folder)


def work_and_show(
    folder: Path, running: RunningOptions, begin: float, wait: bool, as_json: bool
) -> int:
    """Help run the sweep of a folder; print how it stands when nothing is left to claim.

    Returns:
        the exit code: 0, or 1 where a unit failed.
    """
    options = running.options(begin, wait)
    record = read_record(folder)
    with reporting(running.quiet) as report, stopping_on_signals() as stop:
        report_plan(folder, record, report)
        SweepWorker(folder, record, report, options, stop).work()
        statuses = sweep_status(folder, record)
        found = counts(statuses)
        if not found["running"] + found["pending"]:
            consolidate(folder, record)

    def people() -> None:
        for state, number in found.items():
            if number:
                print(f"{state:9s} {number}")

    show(as_json, {"folder": str(folder), "status": found}, people)
    return 1 if found["failed"] else 0


def show_outcome(spec: Spec, folder: Path, outcome: Outcome, quiet: bool, as_json: bool) -> int:
    """Draw a sweep's figures, print its table and their paths, and return the exit code."""
    progress = Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)
    table = summary(outcome.data)
    if missing(outcome.data):
        progress.print(missing(outcome.data))
    if finished(outcome.data).any():
        progress.print("drawing figures")
    paths = draw(folder, outcome.data, folder / "figures")
    overlaps = train_test_overlaps(spec)
    statuses = outcome.data["status"].values.astype(str).tolist()
    content: dict[str, Any] = {
        "folder": str(folder),
        "runs": len(statuses),
        "status": {status: statuses.count(status) for status in sorted(set(statuses))},
        "failed_units": outcome.failed_units,
        "summary": table,
        "train_test_overlap": overlaps,
        "figures": [str(path) for path in paths],
    }

    def people() -> None:
        print_table(render_summary(table))
        for label, overlap in overlaps.items():
            print(f"overlap {overlap:.1%} of test inputs occur in the training data of {label}")
        for path in paths:
            print(f"figure  {path}")
        print(f"data    {folder}  (aedjax.load, aedjax compare, aedjax states)")

    show(as_json, content, people)
    return 1 if outcome.failed_units else 0


def train_test_overlaps(spec: Spec) -> dict[str, float]:
    """Share of each task's test inputs that occur among the training inputs of one run of its
    longest training (of the first 100,000 inputs where it reads more)."""
    inputs: dict[TaskConfig, int] = {}
    for member in spec.members:
        read = min(member.train.steps * member.train.batch_size, 100_000)
        inputs[member.task] = max(read, inputs.get(member.task, 0))
    return {
        _label(task): train_test_overlap(make_task(task), jax.random.key(0), read)
        for task, read in inputs.items()
    }


def _label(task: TaskConfig) -> str:
    used = {name: value for name, value in used_settings(task).items() if name != "name" and value}
    return f"{task.name} ({', '.join(f'{name} {value}' for name, value in used.items())})"


def finished(data: xr.Dataset) -> Bool[np.ndarray, " run"]:
    """The runs that have metrics, diverged ones among them."""
    return np.isin(data["status"].values.astype(str), TRAINED)


def missing(data: xr.Dataset) -> str:
    """How many runs have no metrics, and why; empty where all have."""
    status = data["status"].values.astype(str)[~finished(data)]
    if not status.size:
        return ""
    counts = ", ".join(f"{np.sum(status == name)} {name}" for name in sorted(set(status)))
    total = data.sizes["run"]
    return f"{status.size} of {total} runs have not finished ({counts}); run the sweep to its end"


def draw(folder: Path, data: xr.Dataset, out: Path) -> list[Path]:
    """The figures of a sweep that was loaded from `folder`; none where no run has finished.

    Raises:
        InputError: if `out` cannot be written.
    """
    if not finished(data).any():
        return []
    try:
        return draw_all(data, examples_of(folder, data), out)
    except OSError as error:
        raise InputError(
            f"out = {str(out)!r} cannot be written ({error.strerror}); choose another folder"
        ) from None
