"""The programs of a group, at a width that fits in memory."""

from functools import cache
from pathlib import Path

import jax

from aedjax.errors import reason
from aedjax.sweep.hosts import anywhere, lead, together, told
from aedjax.sweep.memory import (
    TooWideError,
    available_memory,
    fitting_width,
    format_bytes,
    memory_model,
)
from aedjax.sweep.plan import Unit, narrower
from aedjax.sweep.programs import Programs, compile_group
from aedjax.sweep.record import Record
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.store import narrow_group, narrowed_width, split_unit
from aedjax.tasks import make_task


class Fitting:
    """The programs of one group and width at a time. What does not fit in `memory` bytes of a
    device (nearly all of them if None) is refused before it runs, and narrowed."""

    def __init__(self, folder: Path, record: Record, report: Reporter, memory: int | None):
        self.folder, self.record, self.report, self.memory = folder, record, report, memory
        self.task = cache(make_task)
        self.compiled: tuple[tuple[int, int], Programs] | None = None

    def programs(self, unit: Unit) -> Programs:
        """The programs of a unit's group at its width, compiled once for all of its units.

        Raises:
            TooWideError: if they need more memory than there is.
        """
        key = unit.group, unit.width
        if self.compiled is None or self.compiled[0] != key:
            known = self.narrowed_width(unit)
            if known is not None and known < unit.width:
                raise TooWideError(f"its group is known to fit at width {known}")
            self.compiled = None
            programs = together(lambda: self.compile(unit, unit.width))
            available = self.available()
            if anywhere(programs.bytes > available):
                raise TooWideError(
                    f"it needs {format_bytes(programs.bytes)} of a device's "
                    f"{format_bytes(available)}"
                )
            self.compiled = key, programs
        return self.compiled[1]

    def compile(self, unit: Unit, width: int) -> Programs:
        """Compile the programs of a unit's group at some width."""
        member = self.record.spec.members[unit.members[0]]
        return compile_group(member, self.task(member.task), width, self.report)

    def available(self) -> int:
        """Bytes of a device that a program may use."""
        return available_memory(jax.local_devices(), self.memory)

    def narrowed_width(self, unit: Unit) -> int | None:
        """The width that a unit's group is known to fit at, None where any may do."""
        return told(narrowed_width(self.folder, self.record.plan.groups[unit.group].id))

    def narrowed(self, unit: Unit, error: Exception) -> bool:
        """Where a unit did not fit in memory, cut it in halves; false if that is not why it
        failed, or it cannot be cut."""
        if not (
            isinstance(error, TooWideError | MemoryError) or "RESOURCE_EXHAUSTED" in str(error)
        ):
            return False
        group, devices = self.record.plan.groups[unit.group].id, self.record.layout.devices
        width = narrower(unit.width, devices)
        known = self.narrowed_width(unit)
        if width is not None and isinstance(error, TooWideError) and known is None:
            model = together(
                lambda: memory_model(lambda probe: self.compile(unit, probe).bytes, devices)
            )
            width = told(fitting_width(width, devices, model, self.available()))
        if width is None:
            return False
        self.compiled = None
        lead(lambda: narrow_group(self.folder, group, width))
        lead(lambda: split_unit(self.folder, unit))
        self.report.note(
            f"unit {unit.id} of width {unit.width} does not fit in memory ({reason(error)}); "
            f"its group goes on at width {min(width, known or width)}"
        )
        return True
