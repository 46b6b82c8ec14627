"""What a sweep will need, before it runs: memory, time and disk of every group."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from aedjax.sweep.engine import analysis_steps
from aedjax.sweep.memory import available_memory, fitting_width, memory_model
from aedjax.sweep.plan import Layout, Unit, balanced_width, make_plan
from aedjax.sweep.programs import Programs, compile_group, unit_inputs
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.spec import Member, Spec
from aedjax.tasks import make_task

WARM_STEPS = 2
"""Steps of training before time is taken."""


class Forecast(NamedTuple):
    """What a group will need.

    `width` is what fits in memory, None if nothing does; `bytes` is what a device needs at that
    width (at the narrowest, if none fits), as two small widths predict; `compile_seconds` is what
    compiling took just now (less where the compilation cache had it); `run_seconds` is predicted
    from a few steps at that width, None if not measured; `disk` is bytes of results.
    """

    member: Member
    members: int
    units: int
    width: int | None
    bytes: int
    available: int
    compile_seconds: float
    run_seconds: float | None
    disk: int


def forecast(
    spec: Spec, layout: Layout, memory: int | None, measure: bool, report: Reporter
) -> list[Forecast]:
    """What each group of a sweep will need on the devices here."""
    plan = make_plan([spec], layout)
    found = []
    for index, group in enumerate(plan.groups):
        units = [unit for unit in plan.units if unit.group == index]
        members = [spec.members[place] for place in group.members]
        found.append(_of_group(members, units, layout, memory, measure, report))
    return found


def _of_group(
    members: Sequence[Member],
    units: Sequence[Unit],
    layout: Layout,
    memory: int | None,
    measure: bool,
    report: Reporter,
) -> Forecast:
    member, task = members[0], make_task(members[0].task)
    probes: dict[int, Programs] = {}

    def bytes_at(width: int) -> int:
        probes[width] = compile_group(member, task, width, report)
        return probes[width].bytes

    began = time.monotonic()
    model = memory_model(bytes_at, layout.devices)
    compile_seconds = (time.monotonic() - began) / len(probes)
    available = available_memory(jax.devices(), memory)
    width = fitting_width(units[0].width, layout.devices, model, available)
    narrow = width or layout.devices
    pieces = sum(-(-len(unit.members) // narrow) for unit in units)
    run_seconds = None
    if measure and width is not None:
        programs = probes.get(width) or compile_group(member, task, width, report)
        rate = step_rate(programs, members[: min(width, len(units[0].members))])
        run_seconds = sum(one.train.steps for one in members) / rate
    return Forecast(
        member,
        len(members),
        pieces,
        width,
        model.bytes_at(narrow),
        available,
        compile_seconds,
        run_seconds,
        len(members) * _result_bytes(probes[layout.devices], member),
    )


def step_rate(programs: Programs, members: Sequence[Member], seconds: float = 1.0) -> float:
    """Training steps a second, summed over the members of a unit, measured for about `seconds`."""
    inputs, active = unit_inputs(programs, members, 0)
    state = programs.start(inputs, active, ())
    steps, done, elapsed = WARM_STEPS, 0, 0.0
    while elapsed < seconds:
        began = time.monotonic()
        shared = (programs.task.data, np.int32(done + steps))
        state = jax.block_until_ready(programs.advance((state, *inputs), active, shared))
        elapsed, taken, done = time.monotonic() - began, steps, done + steps
        steps = max(2 * steps, int(steps * seconds / elapsed / 2))
    return taken * len(members) / elapsed


def _result_bytes(programs: Programs, member: Member) -> int:
    """Bytes of one member in a unit's result: its parameters and its metrics at every analysis."""

    def size(tree) -> int:
        return sum(
            np.dtype(leaf.dtype).itemsize * int(np.prod(leaf.shape[1:]))
            for leaf in jax.tree.leaves(tree)
        )

    analyses = len(analysis_steps(member))
    return size(programs.state.params) + analyses * size(programs.metrics)


def tuned_widths(spec: Spec, layout: Layout, report: Reporter) -> dict[str, int]:
    """The fastest of three widths for every group, by its id: the layout's, a half, a quarter."""
    plan = make_plan([spec], layout)
    chosen = {}
    for index, group in enumerate(plan.groups):
        members = [spec.members[place] for place in group.members]
        whole = next(unit.width for unit in plan.units if unit.group == index)
        rates = {}
        for part in (1, 2, 4):
            width = balanced_width(-(-whole // part), whole, layout)
            if width not in rates:
                task = make_task(members[0].task)
                programs = compile_group(members[0], task, width, report)
                rates[width] = step_rate(programs, members[:width])
        best = max(rates, key=lambda width: rates[width])
        chosen[group.id] = best
        timed = ", ".join(f"{width}: {rate:,.0f}" for width, rate in sorted(rates.items()))
        report.note(
            f"width {best} for {members[0].model.architecture} on {members[0].task.name} "
            f"(model-steps a second at width {timed})"
        )
    return chosen


def free_disk(folder: Path) -> int:
    """Free bytes where a folder is, or will be."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(place).free
