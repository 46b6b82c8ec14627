"""How far a sweep is, from its folder alone: every member's status, and who works on what."""

from pathlib import Path
from typing import NamedTuple

from aedjax.sweep.checkpoint import checkpointed_step
from aedjax.sweep.lease import holder
from aedjax.sweep.plan import Unit
from aedjax.sweep.record import Record
from aedjax.sweep.spec import Member
from aedjax.sweep.store import (
    Seen,
    checkpoints_folder,
    current_units,
    error_path,
    look,
    read_diverged_at,
    unit_folder,
)

STATES = ("ok", "diverged", "failed", "running", "pending")
"""What a member can be, from best to least known."""


class UnitStatus(NamedTuple):
    """A unit: the state of each of its members, by place, and what is known of it.

    `step` is that of its last checkpoint, `worker` names the process that runs it, `detail` says
    why it failed, or at which step which run diverged.
    """

    unit: Unit
    states: dict[int, str]
    step: int
    worker: str
    detail: str


def unit_status(folder: Path, unit: Unit, seen: Seen) -> UnitStatus:
    """The status of a unit, from what was seen of all and its own files.

    Raises:
        InputError: if its result is damaged.
    """
    if unit.id in seen.finished:
        diverged_at = read_diverged_at(folder, unit.id).tolist()
        steps = dict(zip(unit.members, diverged_at, strict=True))
        states = {run: "ok" if step < 0 else "diverged" for run, step in steps.items()}
        wild = [f"run {run} diverged at step {step:,}" for run, step in steps.items() if step >= 0]
        return UnitStatus(unit, states, 0, "", ", ".join(wild))
    step, found = 0, None
    if unit.id in seen.begun:
        step = checkpointed_step(checkpoints_folder(folder, unit.id))
        found = holder(unit_folder(folder, unit.id))
    if found is not None:
        worker = f"pid {found.process.pid} on {found.process.host}"
        return UnitStatus(unit, dict.fromkeys(unit.members, "running"), step, worker, "")
    if unit.id in seen.failed:
        reason = error_path(folder, unit.id).read_text(encoding="utf-8").strip()
        return UnitStatus(unit, dict.fromkeys(unit.members, "failed"), step, "", reason)
    return UnitStatus(unit, dict.fromkeys(unit.members, "pending"), step, "", "")


def sweep_status(folder: Path, record: Record) -> list[UnitStatus]:
    """The status of every unit of a sweep, in order."""
    units, seen = current_units(folder, record), look(folder)
    return [unit_status(folder, unit, seen) for unit in units]


def counts(statuses: list[UnitStatus]) -> dict[str, int]:
    """The number of members in each state."""
    states = [state for status in statuses for state in status.states.values()]
    return {state: states.count(state) for state in STATES}


def label(member: Member) -> str:
    """What a group is called for people."""
    model = member.model
    cell = f" {model.cell}" if model.architecture != "ao" else ""
    return (
        f"{member.task.name} · {model.architecture}{cell}, hidden {model.hidden_size}, "
        f"{member.train.steps:,} steps"
    )
