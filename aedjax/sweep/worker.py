"""A worker: it claims one unit after another of a sweep's folder, until none is left.

Any number of workers, on any number of hosts, share a folder; who dies is replaced by whoever
comes next. Where several processes run one program, the leader claims and all compute.
"""

import time
from collections import deque
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import jax

from aedjax.errors import FailureError, InputError, reason
from aedjax.sweep.checkpoint import load_checkpoint, save_checkpoint
from aedjax.sweep.engine import Progress, UnitResult, result_of, train_unit
from aedjax.sweep.files import remove_leftovers
from aedjax.sweep.fitting import Fitting
from aedjax.sweep.hosts import agreed, anywhere, lead, together, told
from aedjax.sweep.lease import (
    Lease,
    LeaseLostError,
    check,
    claim,
    finish,
    heartbeat,
    release,
)
from aedjax.sweep.memory import TooWideError
from aedjax.sweep.plan import Unit
from aedjax.sweep.provenance import provenance
from aedjax.sweep.record import Record
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.stop import Stop
from aedjax.sweep.store import (
    checkpoints_folder,
    current_units,
    error_path,
    look,
    result_path,
    split_path,
    unit_folder,
    write_error,
    write_result,
)

SHORTEST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""Seconds to wait before looking again for a unit that another worker gave up; each wait is twice
the one before, since a look lists hundreds of folders and many workers may be waiting."""


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works.

    A checkpoint is due after `checkpoint_steps` steps of a unit (0: however many) or
    `checkpoint_minutes`, whichever comes first. `memory` bounds the bytes of a device. A worker
    that finds nothing to do but what others are doing waits for them to finish or die, unless
    `wait` is false. `begin`, in [0, 1), is where in the list of units it begins.
    """

    checkpoint_steps: int = 0
    checkpoint_minutes: float = 5.0
    memory: int | None = None
    fail_fast: bool = False
    wait: bool = True
    begin: float = 0.0


class Worker:
    """A worker on a folder, and the units that it saw were left."""

    def __init__(
        self, folder: Path, record: Record, report: Reporter, options: WorkerOptions, stop: Stop
    ):
        self.folder, self.record, self.report = folder, record, report
        self.options, self.stop = options, stop
        self.left: deque[Unit] = deque()
        self.fitting = Fitting(folder, record, report, options.memory)

    def work(self) -> None:
        """Run units until none is left.

        Raises:
            KeyboardInterrupt: if asked to stop; what was trained is kept.
            OSError: if the folder cannot be written.
        """
        wait = SHORTEST_WAIT
        while True:
            if anywhere(self.stop.requested):
                raise KeyboardInterrupt
            unit, lease, busy = lead(self.next_unit) or (None, None, False)
            found, busy = told((unit, busy))
            if found is not None:
                id, group, members, width = found
                self.run(Unit(id, group, tuple(members), width), lease)
                wait = SHORTEST_WAIT
            elif busy and self.options.wait:
                if wait == SHORTEST_WAIT:
                    self.report.note("waiting for units that other workers run")
                self.stop.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            else:
                return

    def next_unit(self) -> tuple[Unit | None, Lease | None, bool]:
        """A unit that nobody works on, claimed; without one, whether others work on any."""
        fresh = not self.left
        while True:
            if fresh:
                self.left = self.units_left()
            busy = False
            while self.left:
                unit = self.left.popleft()
                if self.stop.requested:
                    raise KeyboardInterrupt
                if self.is_over(unit):
                    continue
                lease = claim(unit_folder(self.folder, unit.id))
                if lease is None:
                    busy = True
                elif self.is_over(unit):
                    finish(lease)  # It was finished between the two looks.
                else:
                    return unit, lease, busy
            if fresh:
                return None, None, busy
            fresh = True

    def units_left(self) -> deque[Unit]:
        """The units that are not over, from where this worker begins."""
        seen = look(self.folder)
        units = current_units(self.folder, self.record)
        first = int(self.options.begin * len(units))
        return deque(unit for unit in [*units[first:], *units[:first]] if not seen.over(unit.id))

    def is_over(self, unit: Unit) -> bool:
        """Whether a unit is over by now."""
        paths = (
            result_path(self.folder, unit.id),
            error_path(self.folder, unit.id),
            split_path(self.folder, unit.id),
        )
        return any(path.exists() for path in paths)

    def run(self, unit: Unit, lease: Lease | None) -> None:
        """Train a unit that this worker owns, and write its result or why there is none."""
        try:
            with heartbeat(lease) if lease is not None else nullcontext():
                result = self.result_of(unit, lease)
                together(lambda: self.keep(unit, lease, result))
            self.report.finished(unit)
        except LeaseLostError as error:
            self.report.note(f"unit {error}; it is left to that one")
        except (TooWideError, jax.errors.JaxRuntimeError, MemoryError) as error:
            if self.fitting.narrowed(unit, error):
                if lease is not None:
                    finish(lease)
            else:
                give_up(lease)
                self.failed(unit, error)
        except (ArithmeticError, InputError) as error:
            give_up(lease)
            self.failed(unit, error)
        except BaseException:
            give_up(lease)
            raise

    def keep(self, unit: Unit, lease: Lease | None, result: UnitResult) -> None:
        """Write the result of a unit, in the process that owns it."""
        if lease is not None:
            check(lease)
            write_result(self.folder, unit, result)
            finish(lease)

    def result_of(self, unit: Unit, lease: Lease | None) -> UnitResult:
        """Train a unit from its last checkpoint, or from the start."""
        programs = self.fitting.programs(unit)
        members = [self.record.spec.members[place] for place in unit.members]
        checkpoints = checkpoints_folder(self.folder, unit.id)
        if lease is not None:
            for place in (checkpoints, checkpoints.parent, checkpoints.parents[1]):
                remove_leftovers(place)
        saved = load_checkpoint(checkpoints, programs, members[0], self.report)
        if saved is not None:
            self.report.note(f"unit {unit.id} goes on from step {saved.step:,}")
            self.report.resumed_at(saved.step * len(members))
        root_seed = self.record.spec.root_seed
        progress, saved_step, saved_at = saved, saved.step if saved else 0, time.monotonic()
        longest = self.options.checkpoint_steps or None
        for progress in train_unit(programs, members, root_seed, self.report, saved, longest):
            together(lambda: None if lease is None else check(lease))
            stopping = anywhere(self.stop.requested)
            if stopping or self.due(progress, saved_step, saved_at):
                if progress.step > saved_step:
                    save_checkpoint(checkpoints, progress)
                saved_step, saved_at = progress.step, time.monotonic()
            if stopping:
                raise KeyboardInterrupt
        assert progress is not None
        return result_of(progress, members, provenance() | {"width": unit.width})

    def due(self, progress: Progress, saved_step: int, saved_at: float) -> bool:
        """Whether it is time for a checkpoint."""
        steps = self.options.checkpoint_steps
        by_steps = bool(steps) and progress.step - saved_step >= steps
        by_time = time.monotonic() - saved_at >= 60 * self.options.checkpoint_minutes
        return bool(agreed(int(by_steps or by_time)))

    def failed(self, unit: Unit, error: Exception) -> None:
        """Record and report a unit that failed; the others go on unless failing is to be fast."""
        text = f"{type(error).__name__}: {reason(error)}"
        lead(lambda: write_error(self.folder, unit.id, text))
        self.report.failed(unit, error)
        if self.options.fail_fast:
            raise FailureError(f"unit {unit.id} failed: {reason(error)}") from error


def give_up(lease: Lease | None) -> None:
    """Release a lease, as far as the folder can still be written."""
    if lease is not None:
        with suppress(OSError):
            release(lease)
