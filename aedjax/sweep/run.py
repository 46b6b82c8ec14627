"""Running a sweep: open its folder, work until nothing is left, gather the data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import xarray as xr

from aedjax.errors import InputError
from aedjax.sweep.dataset import consolidate
from aedjax.sweep.files import remove_leftovers
from aedjax.sweep.forecast import tuned_widths
from aedjax.sweep.hosts import lead, together
from aedjax.sweep.identity import used_settings
from aedjax.sweep.plan import WIDTH_PER_DEVICE, Layout
from aedjax.sweep.record import Record, open_record, read_record
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.spec import Spec
from aedjax.sweep.stop import Stop
from aedjax.sweep.store import current_units, error_path, look
from aedjax.sweep.worker import Worker, WorkerOptions
from aedjax.tasks import make_task


class Outcome(NamedTuple):
    """A sweep that ran to its end: its data, and how many of its units failed."""

    data: xr.Dataset
    failed_units: int


def run_sweep(
    spec: Spec,
    folder: Path,
    report: Reporter,
    options: WorkerOptions | None = None,
    width: int | None = None,
    tune: bool = False,
    stop: Stop | None = None,
) -> Outcome:
    """Run what is left of a sweep and gather its data.

    A unit that raises is recorded, reported and passed over; the next run of the same sweep tries
    it again.

    Raises:
        InputError: if a task's file is not in its format, or `folder` holds another sweep or
            cannot be written.
        KeyboardInterrupt: if `stop` was requested; what was trained is kept.
    """
    record = open_sweep(spec, folder, report, width, tune)
    report_plan(folder, record, report)
    Worker(folder, record, report, options or WorkerOptions(), stop or Stop()).work()
    return outcome_of(folder)


def outcome_of(folder: Path) -> Outcome:
    """Gather the data of a sweep that ran to its end."""
    record = read_record(folder)
    units = current_units(folder, record)
    failed = look(folder).failed & {unit.id for unit in units}
    return Outcome(consolidate(folder, record), len(failed))


def open_sweep(
    spec: Spec,
    folder: Path,
    report: Reporter,
    width: int | None = None,
    tune: bool = False,
    workers: int = 1,
) -> Record:
    """Make a folder the home of a sweep, or find or extend the sweep there; what failed before
    is to be tried again.

    Args:
        spec: the sweep.
        folder: its folder.
        report: who wants to know how widths are tuned.
        width: the most members of a unit of a new sweep; what the devices suggest if None.
        tune: whether to time three widths for each group of a new sweep.
        workers: how many processes of this machine share its accelerators.

    Raises:
        InputError: if a task's file is not in its format, or `folder` holds another sweep, one
            cut at another width, or cannot be written.
    """
    # Tasks first: a file with a broken line is found before anything is written.
    words = together(lambda: vocabularies(spec))

    def layout() -> Layout:
        plain = default_layout(width, workers)
        return plain._replace(widths=tuned_widths(spec, plain, report)) if tune else plain

    opened = lead(lambda: open_record(folder, spec, words, layout))
    record = opened or read_record(folder)
    if width is not None and width != record.layout.width:
        raise InputError(
            f"width = {width}, but the sweep in {str(folder)!r} was cut at {record.layout.width}; "
            "leave the option out, or choose another folder"
        )

    def try_again() -> None:
        remove_leftovers(folder)
        for unit in look(folder).failed:
            error_path(folder, unit).unlink(missing_ok=True)

    lead(try_again)
    return record


def vocabularies(spec: Spec) -> Sequence[Any]:
    """The words of every task of a spec, by id."""
    tasks = {task: make_task(task) for task in dict.fromkeys(m.task for m in spec.members)}
    return [
        {
            "task": used_settings(config),
            "encoder": list(task.encoder_vocabulary),
            "decoder": list(task.decoder_vocabulary),
        }
        for config, task in tasks.items()
    ]


def default_layout(width: int | None, workers: int = 1) -> Layout:
    """The layout that the devices here suggest, or one of the given width.

    Accelerators are shared out among the workers; host devices are not, so that a sweep is bit for
    bit the same however many processes of a machine run it.
    """
    devices = jax.devices()
    platform, count = devices[0].platform, len(devices)
    if platform != "cpu":
        count = max(1, count // workers)
    width = width or WIDTH_PER_DEVICE[platform] * count
    return Layout(width, count, devices[0].device_kind)


def report_plan(folder: Path, record: Record, report: Reporter) -> None:
    """Say how much there is to do."""
    members = record.spec.members
    units = current_units(folder, record)
    finished = look(folder).finished
    pending = [unit for unit in units if unit.id not in finished]
    steps = sum(members[place].train.steps for unit in pending for place in unit.members)
    report.planned(
        len(members), len(record.plan.groups), len(units), len(units) - len(pending), steps
    )
