"""One member trained again, alone, to see whether it is what the sweep has, bit for bit."""

from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from aedjax.errors import InputError
from aedjax.sweep.engine import Progress, analysis_steps, result_of, train_unit
from aedjax.sweep.programs import compile_group
from aedjax.sweep.record import read_record
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.runs import unit_of
from aedjax.sweep.store import read_result
from aedjax.tasks import make_task


class Replayed(NamedTuple):
    """What a replay found: the step it went to, and the largest difference of every array, by
    name; `params/...` at the last step, `metrics/...` at every analysis up to the step."""

    step: int
    differences: dict[str, float]

    @property
    def exact(self) -> bool:
        """Whether every bit is the same."""
        return not any(self.differences.values())


def replay(folder: Path, run: int, steps: int | None, report: Reporter) -> Replayed:
    """Train run number `run` of a sweep again, at the width of its unit.

    Args:
        folder: the sweep.
        run: the number of the run.
        steps: where to stop, one of the steps at which the run was analysed; its last if None.
            Before the last step there are no parameters to compare, only metrics.
        report: who wants to know how far it is.

    Raises:
        InputError: if there is no such run or step, or the run has not finished.
    """
    record = read_record(folder)
    unit = unit_of(folder, record, run)
    member = record.spec.members[run]
    analyses = analysis_steps(member)
    steps = analyses[-1] if steps is None else steps
    if steps not in analyses:
        known = ", ".join(map(str, analyses))
        raise InputError(
            f"steps = {steps} was not analysed, so nothing can be compared; use one of {known}"
        )
    place = unit.members.index(run)
    report.planned(1, 1, 1, 0, steps)
    kept = read_result(folder, unit.id)
    programs = compile_group(member, make_task(member.task), unit.width, report)
    progress = _trained(programs, [member], record.spec.root_seed, steps, report)
    ours = result_of(progress, [member], {})
    differences = {
        f"metrics/{name}": difference(values[0], kept.metrics[name][place, : values.shape[1]])
        for name, values in ours.metrics.items()
    }
    if steps == analyses[-1]:
        paths = jax.tree_util.tree_leaves_with_path(ours.params)
        theirs = jax.tree.leaves(kept.params)
        for (path, leaf), other in zip(paths, theirs, strict=True):
            name = "/".join(str(key.key) for key in path)
            differences[f"params/{name}"] = difference(leaf[0], other[place])
    return Replayed(steps, differences)


def _trained(programs, members, root_seed: int, steps: int, report: Reporter) -> Progress:
    for progress in train_unit(programs, members, root_seed, report):
        if progress.step >= steps:
            return progress
    raise AssertionError("training ends at its last step")


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two arrays, 0 where they are bitwise equal; NaN equals NaN."""
    if one.tobytes() == other.tobytes():
        return 0.0
    both = np.isnan(one) & np.isnan(other)
    gaps = np.where(both, 0.0, np.abs(one.astype(float) - other.astype(float)))
    # Two NaNs, or two zeros, can differ in bits though not in value.
    return float(np.nanmax(np.where(np.isnan(gaps), np.inf, gaps))) or float(np.finfo(float).tiny)
