"""What `accelerator_check.py` checks: one function a check, and the table of them all."""

import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr

from aedjax.sweep.forecast import step_rate
from aedjax.sweep.memory import available_memory, format_bytes
from aedjax.sweep.programs import Programs, compile_group
from aedjax.sweep.replay import replay
from aedjax.sweep.reporter import Reporter, Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import Member, Spec, spec_from_document
from aedjax.sweep.worker import WorkerOptions
from aedjax.tasks import make_task
from aedjax.version import __version__

PER_DEVICE = 8
"""Members a device in the sweeps that are run."""
REPEATS = 3
"""How often a rate is measured."""
LARGEST_ERROR = 1e-5
"""What the relative reconstruction error of a split must stay below."""
TOO_MUCH = 3.0
"""How many times what it may use a unit that is too wide asks a device for."""
PROBES = 1024, 2048
"""Batch sizes from which the memory of larger ones is predicted."""
UNBELIEVED = 2**62
"""Bytes of a device that no program's need exceeds: the device itself has to say no."""


class Size(NamedTuple):
    """How large the checks are: settings of the sweeps, widths that are timed, and how long."""

    settings: Mapping[str, Any]
    widths: tuple[int, ...]
    seconds: float


FULL = Size(
    {
        "task": {"min_length": 10, "max_length": 15},
        "model": {"hidden_size": 64},
        "train": {"batch_size": 64, "steps": 100},
        "analysis": {"samples": 256},
    },
    (1, 8, 64, 512),
    1.0,
)
TINY = Size(
    {
        "task": {"min_length": 3, "max_length": 5},
        "model": {"hidden_size": 8},
        "train": {"batch_size": 8, "steps": 6},
        "analysis": {"samples": 16, "methods": ["joint"], "fit": ["cross"]},
    },
    (1, 2),
    0.01,
)


class Found(NamedTuple):
    """What a check found: whether it passed (None: it does not apply here), and its lines."""

    passed: bool | None
    lines: list[str]


class Notes(Silent):
    """Keeps what is worth a line."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep a line."""
        self.notes.append(text)


class Bench:
    """What the checks share: sizes, a scratch folder, compiled programs and a trained sweep."""

    def __init__(self, size: Size, scratch: Path):
        self.size, self.scratch = size, scratch
        self.device = jax.devices()[0]
        self.width = PER_DEVICE * len(jax.devices())
        self.programs = cache(self._programs)
        self.trained = cache(self._trained)

    def spec(self, seeds: int, **settings: Mapping[str, Any]) -> Spec:
        """A sweep over seeds, with settings of some sections replaced."""
        document = {"name": "check", "sweep": {"seeds": seeds}, **self.size.settings}
        for section, values in settings.items():
            document[section] = {**document[section], **values}
        return spec_from_document(document)

    def _programs(self, width: int) -> Programs:
        return compiled(self.spec(1).members[0], width)

    def _trained(self) -> tuple[Path, xr.Dataset]:
        folder = self.scratch / "trained"
        return folder, self.run(self.spec(self.width), folder)

    def run(
        self,
        spec: Spec,
        folder: Path,
        report: Reporter | None = None,
        options: WorkerOptions | None = None,
    ) -> xr.Dataset:
        """The data of a sweep that is run as one unit on all devices."""
        return run_sweep(spec, folder, report or Silent(), options, self.width).data

    def limit(self) -> int | None:
        """Bytes of the device; None for a CPU, whose memory is everybody's."""
        return None if self.device.platform == "cpu" else available_memory([self.device], None)


def compiled(member: Member, width: int) -> Programs:
    """The programs of a member under `vmap`, on one device."""
    task = make_task(member.task)
    return compile_group(member, task, width, Silent(), "vmap", jax.devices()[:1])


def versions(bench: Bench) -> Found:
    """Versions of everything."""
    found = {"aedjax": __version__, "python": platform.python_version(), "driver": driver()}
    found |= {name: version(name) for name in ("jax", "jaxlib", "numpy", "flax", "optax")}
    return Found(True, [", ".join(f"{name} {what}" for name, what in found.items())])


def driver() -> str:
    """The version of NVIDIA's driver, if there is one."""
    if shutil.which("nvidia-smi") is None:
        return "none (no nvidia-smi)"
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    said = subprocess.run(query, capture_output=True, text=True, check=False)
    return said.stdout.splitlines()[0] if said.stdout else "unknown"


def devices(bench: Bench) -> Found:
    """The devices, and the memory of each."""
    lines = [
        f"{device.id}: {device.device_kind} ({device.platform}), "
        f"{format_bytes(available_memory(jax.devices(), None))} usable"
        for device in jax.devices()
    ]
    return Found(True, lines)


def speed(bench: Bench) -> Found:
    """Model-steps a second under `vmap` on one device, by width."""
    lines = []
    for width in bench.size.widths:
        began = time.monotonic()
        programs = bench.programs(width)
        seconds = time.monotonic() - began
        members = bench.spec(width).members
        rates = [step_rate(programs, members, bench.size.seconds) for _ in range(REPEATS)]
        lines.append(
            f"width {width:4d}: {statistics.median(rates):10,.0f} model-steps/s "
            f"({min(rates):,.0f} to {max(rates):,.0f} in {REPEATS}), compiled in {seconds:.1f} s"
        )
    return Found(True, lines)


def exactness(bench: Bench) -> Found:
    """A member trained again alone, and the sweep run again: bitwise the same?"""
    folder, data = bench.trained()
    found = replay(folder, 3, None, Silent())
    worst = max(found.differences, key=lambda name: found.differences[name])
    again = bench.run(bench.spec(bench.width), bench.scratch / "again")
    same = data.drop_attrs().identical(again.drop_attrs())
    return Found(
        found.exact and same,
        [
            f"replay of run 3 of {bench.width}: {len(found.differences)} arrays, "
            + (
                "all bitwise equal"
                if found.exact
                else f"{worst} differs most: {found.differences[worst]:.3g}"
            ),
            f"the sweep run again: metrics {'bitwise equal' if same else 'differ'}",
        ],
    )


def memory(bench: Bench) -> Found:
    """The memory that the compiler predicts, beside what the device saw at most."""
    width = bench.size.widths[-1]
    programs = bench.programs(width)
    stats = bench.device.memory_stats() or {}
    if "peak_bytes_in_use" not in stats:
        predicted = format_bytes(programs.bytes)
        return Found(None, [f"{predicted} predicted at width {width}; the device keeps no count"])
    peak, before = stats["peak_bytes_in_use"], stats["bytes_in_use"]
    return Found(
        peak <= 1.1 * programs.bytes + before,
        [
            f"width {width}: {format_bytes(programs.bytes)} predicted, peak {format_bytes(peak)} "
            f"({peak / programs.bytes:.2f} of it), {format_bytes(before)} still in use"
        ],
    )


def narrowing(bench: Bench) -> Found:
    """A unit that is predicted not to fit is cut until it does."""
    limit = bench.limit()
    if limit is not None:
        return narrowed(bench, heavy(bench, limit), WorkerOptions())
    spec = bench.spec(bench.width)
    member, task = spec.members[0], make_task(spec.members[0].task)
    whole, half = (
        compile_group(member, task, width, Silent()).bytes
        for width in (bench.width, bench.width // 2)
    )
    found = narrowed(bench, spec, WorkerOptions(memory=(whole + half) // 2))
    return found._replace(lines=["limit made up: a CPU's memory is not to be filled", *found.lines])


def exhaustion(bench: Bench) -> Found:
    """A unit that no prediction stops fills the device, and is cut until it fits."""
    limit = bench.limit()
    if limit is None:
        return Found(None, ["a CPU's memory is not to be filled"])
    return narrowed(bench, heavy(bench, limit), WorkerOptions(memory=UNBELIEVED))


def heavy(bench: Bench, limit: int) -> Spec:
    """A unit whose batches together need TOO_MUCH times the limit of every device."""

    def spec(batch: int) -> Spec:
        large = {"hidden_size": 256}
        return bench.spec(bench.width, model=large, train={"batch_size": batch, "steps": 1})

    low, high = (compiled(spec(batch).members[0], 1).bytes for batch in PROBES)
    slope = (high - low) / (PROBES[1] - PROBES[0])
    return spec(int(TOO_MUCH * limit / PER_DEVICE / slope))


def narrowed(bench: Bench, spec: Spec, options: WorkerOptions) -> Found:
    """Run a unit that is too wide."""
    report = Notes()
    folder = Path(tempfile.mkdtemp(dir=bench.scratch))
    data = bench.run(spec, folder, report, options)
    status = data["status"].values.astype(str).tolist()
    cut = [note for note in report.notes if "does not fit in memory" in note]
    finished = sum(state in ("ok", "diverged") for state in status)
    return Found(
        bool(cut) and finished == len(status),
        [*(note[:200] for note in cut[:3]), f"{finished} of {len(status)} runs finished"],
    )


def reconstruction(bench: Bench) -> Found:
    """The largest relative error of a sum of parts against the whole, trained and untrained."""
    _, data = bench.trained()
    worst = {
        name: float(np.nanmax(data[name].values))
        for name in ("reconstruction_error", "reconstruction_error_initial")
    }
    lines = [f"{name} {value:.2g} at most" for name, value in worst.items()]
    return Found(max(worst.values()) < LARGEST_ERROR, lines)


CHECKS: dict[str, Callable[[Bench], Found]] = {
    "versions": versions,
    "devices": devices,
    "speed under vmap": speed,
    "predicted memory": memory,
    "exactness": exactness,
    "reconstruction": reconstruction,
    "narrowing by prediction": narrowing,
    "narrowing by exhaustion": exhaustion,
}
"""Every check by name, in order: the peak of memory is looked at before anything fills it."""
