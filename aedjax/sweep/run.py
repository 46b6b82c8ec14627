"""Running a sweep: every unit that has no result yet, one after another, in this process."""

import shutil
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import xarray as xr

from aedjax.sweep.backends import local_mesh
from aedjax.sweep.dataset import consolidate
from aedjax.sweep.engine import Reporter, compile_group, run_unit
from aedjax.sweep.identity import used_settings
from aedjax.sweep.plan import Plan, Unit, make_plan
from aedjax.sweep.spec import Spec
from aedjax.sweep.store import open_sweep, result_path, write_error, write_result
from aedjax.tasks import make_task


@runtime_checkable
class SweepReporter(Reporter, Protocol):
    """Whoever wants to know how far a sweep is."""

    def planned(self, plan: Plan, pending: int, model_steps: int) -> None:
        """`pending` units are to be run, `model_steps` steps in all, summed over members."""

    def failed(self, unit: Unit, error: Exception) -> None:
        """A unit ended in an error; the sweep goes on."""


class Outcome(NamedTuple):
    """A sweep that ran to its end: its data, and how many of its units failed."""

    data: xr.Dataset
    failed_units: int


def run_sweep(spec: Spec, folder: Path, report: SweepReporter) -> Outcome:
    """Run what is left of a sweep and gather its data.

    A unit that raises is recorded, reported and passed over; the next run of the same sweep tries
    it again.

    Raises:
        InputError: if a task's file is not in its format, or `folder` holds another sweep or
            cannot be written.
    """
    # Tasks first: a file with a broken line is found before anything is written.
    tasks = {task: make_task(task) for task in dict.fromkeys(m.task for m in spec.members)}
    vocabularies = [
        {
            "task": used_settings(config),
            "encoder": task.encoder_vocabulary,
            "decoder": task.decoder_vocabulary,
        }
        for config, task in tasks.items()
    ]
    open_sweep(folder, spec.document, vocabularies)
    plan = make_plan(spec)
    pending = [unit for unit in plan.units if not result_path(folder, unit.id).exists()]
    if pending and (folder / "results.zarr").exists():
        shutil.rmtree(folder / "results.zarr")
    steps = sum(spec.members[k].train.steps for unit in pending for k in unit.members)
    report.planned(plan, len(pending), steps)
    mesh = local_mesh()
    failed = 0
    programs, compiled_group = None, None
    for unit in pending:
        members = [spec.members[k] for k in unit.members]
        try:
            if programs is None or compiled_group != unit.group:
                width = plan.width_of(unit.group)
                programs = compile_group(members[0], tasks[members[0].task], width, mesh, report)
                compiled_group = unit.group
            write_result(folder, unit.id, run_unit(programs, members, spec.root_seed, report))
        except (jax.errors.JaxRuntimeError, ArithmeticError, MemoryError, OSError) as error:
            failed += 1
            write_error(folder, unit.id, error)
            report.failed(unit, error)
    return Outcome(consolidate(folder, spec), failed)
