"""What `sweep` and `train` share: run, draw, and say what came out."""

from pathlib import Path
from typing import Any

import jax
import xarray as xr
from rich.console import Console

from aedjax.commands.options import show
from aedjax.errors import InputError
from aedjax.figures import draw_all
from aedjax.figures.examples import examples_of
from aedjax.progress import ProgressReporter
from aedjax.stats.summary import render_summary, summary
from aedjax.sweep.dataset import load
from aedjax.sweep.identity import used_settings
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import Spec
from aedjax.tasks import TaskConfig, make_task, train_test_overlap


def run_and_show(spec: Spec, folder: Path, as_json: bool) -> int:
    """Run a sweep with progress on standard error; print its table and the paths of its figures.

    Returns:
        the exit code: 0, or 1 where a unit failed. Diverged runs are counted in the table.
    """
    progress = Console(stderr=True, soft_wrap=True, highlight=False)
    with ProgressReporter(progress) as report:
        outcome = run_sweep(spec, folder, report)
    table = summary(outcome.data)
    progress.print("drawing figures")
    paths = draw(folder)
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
        console = Console(soft_wrap=False)
        console.print(render_summary(table))
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


def draw(folder: Path, out: Path | None = None) -> list[Path]:
    """The figures of a sweep, in `out` or in the sweep's own folder."""
    data: xr.Dataset = load(folder)
    out = out or folder / "figures"
    try:
        return draw_all(data, examples_of(folder, data), out)
    except OSError as error:
        raise InputError(
            f"out = {str(out)!r} cannot be written ({error.strerror}); choose another folder"
        ) from None
