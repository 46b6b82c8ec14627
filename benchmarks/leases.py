"""What sharing a folder costs: many worker processes that claim and finish units and do no work.

    python benchmarks/leases.py [--workers 1 2 4 8 16] [--units 2000] [--apart] [--work-ms 0]

Each worker is a real process that goes through the whole protocol of a unit (is it over? claim,
write a result, remove the lease). `meetings` are claims that another worker had; `operations` are
file-system calls a unit, counted by Python's audit events and by wrapping `os.stat`. With
`--apart` workers begin at different places in the list of units, as `aedjax worker --begin` does.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

RESULT_BYTES = 200_000
"""Bytes of a result: 16 small networks."""
COUNTED = ("open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.listdir", "os.scandir")


@dataclass(frozen=True)
class Benchmark:
    """Measure lease contention."""

    workers: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Numbers of processes."""
    units: int = 2000
    """Units to be claimed."""
    apart: bool = False
    """Begin at different places."""
    work_ms: float = 0.0
    """Milliseconds that a unit takes, asleep."""
    folder: str | None = None
    """Where to make the folder: on the file system to be measured."""


def unit_names(units: int) -> list[str]:
    """Names like those of units: the first two digits spread them over 256 folders."""
    rng = np.random.default_rng(0)
    return [f"{number:016x}" for number in rng.integers(0, 2**63, units)]


def work(folder: Path, units: int, begin: float, work_ms: float, start: float) -> dict:
    """Claim and finish units until none is left; what it took."""
    from aedjax.sweep.files import replacing
    from aedjax.sweep.lease import check, claim, finish
    from aedjax.sweep.store import result_path, unit_folder

    operations: Counter = Counter()
    counting = [False]

    def count(event: str, arguments: tuple) -> None:
        if counting[0] and event in COUNTED:
            operations[event] += 1

    sys.addaudithook(count)
    stat = os.stat

    def counted_stat(*arguments, **named):
        operations["os.stat"] += counting[0]
        return stat(*arguments, **named)

    os.stat = counted_stat
    payload = os.urandom(RESULT_BYTES)
    names = unit_names(units)
    first = int(begin * units)
    order = [*range(first, units), *range(first)]
    done = meetings = 0
    time.sleep(max(0.0, start - time.time()))
    counting[0] = True
    began = time.monotonic()
    for index in order:
        path = result_path(folder, names[index])
        if path.exists():
            continue
        lease = claim(unit_folder(folder, names[index]))
        if lease is None:
            meetings += 1
            continue
        if path.exists():
            finish(lease)
            continue
        time.sleep(work_ms / 1000)
        check(lease)
        with replacing(path) as temporary:
            temporary.write_bytes(payload)
        finish(lease)
        done += 1
    counting[0] = False
    seconds = time.monotonic() - began
    return {"done": done, "meetings": meetings, "seconds": seconds, "operations": operations}


def main(benchmark: Benchmark) -> None:
    """Run every number of workers, and print a table."""
    for workers in benchmark.workers:
        with tempfile.TemporaryDirectory(dir=benchmark.folder) as scratch:
            start = time.time() + 4 + workers
            calls = [
                subprocess.Popen(
                    [sys.executable, __file__, "--work", scratch, str(benchmark.units),
                     str(k / workers if benchmark.apart else 0.0), str(benchmark.work_ms),
                     str(start)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for k in range(workers)
            ]  # fmt: skip
            found = [json.loads(call.communicate()[0]) for call in calls]
            results = len(list(Path(scratch).glob("units/*/*.npz")))
            leases = len(list(Path(scratch).glob("units/*/*/lease*")))
        done = sum(one["done"] for one in found)
        seconds = max(one["seconds"] for one in found)
        operations: Counter = sum((Counter(one["operations"]) for one in found), Counter())
        per_unit = {name: round(number / done, 1) for name, number in operations.most_common()}
        print(
            f"{workers:3d} workers  {done / seconds:7.0f} units/s  {seconds:6.2f} s  "
            f"{sum(one['meetings'] for one in found):6d} meetings  "
            f"done {done}, results {results}, leases left {leases}  operations a unit "
            f"{sum(per_unit.values()):.1f}: {per_unit}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        folder, units, begin, work_ms, start = sys.argv[2:]
        print(
            json.dumps(work(Path(folder), int(units), float(begin), float(work_ms), float(start)))
        )
    else:
        main(tyro.cli(Benchmark))
