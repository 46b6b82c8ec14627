"""Ten thousand members of a tiny model: what plan, run, load and compare cost.

    python benchmarks/many_members.py [--members 1000 3000 10000] [--json FILE]

Every count runs in processes of its own, so that peak memory is that of the step alone. Times are
wall-clock seconds of one run; what matters is that they grow linearly.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

STEPS = ("plan", "run", "load", "compare")


@dataclass(frozen=True)
class Benchmark:
    """Measure sweeps of many members."""

    members: tuple[int, ...] = (1000, 3000, 10_000)
    """Numbers of members."""
    json: str | None = None
    """A file for the figures."""


def document(members: int) -> dict:
    """A sweep of so many seeds of a network that takes no time to train."""
    return {
        "name": "many",
        "task": {"min_length": 3, "max_length": 3},
        "model": {"architecture": "ao", "hidden_size": 4},
        "train": {"steps": 2, "batch_size": 2},
        "analysis": {"samples": 8, "methods": "sequential", "fit": "in_sample"},
        "sweep": {"seeds": members},
    }


def step(name: str, members: int, folder: Path) -> dict[str, float]:
    """One step in this process: its seconds, and the peak of this process's memory in MiB."""
    import aedjax
    from aedjax.sweep.backends import use_every_core

    use_every_core()
    from aedjax.sweep.plan import make_plan
    from aedjax.sweep.reporter import Silent
    from aedjax.sweep.run import default_layout, run_sweep
    from aedjax.sweep.spec import spec_from_document

    spec = spec_from_document(document(members)) if name in ("plan", "run") else None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    if spec is not None and name == "plan":
        spec = spec_from_document(document(members))
        make_plan([spec], default_layout(512))
    elif spec is not None:
        run_sweep(spec, folder, Silent(), width=512)
    elif name == "load":
        aedjax.load(folder)
    else:
        aedjax.compare(aedjax.load(folder), "token_accuracy")
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mib": peak / 1024, "mib_more": (peak - before) / 1024}


def main(benchmark: Benchmark) -> None:
    """Run every step for every number of members, and print a table."""
    rows = []
    for members in benchmark.members:
        with tempfile.TemporaryDirectory() as scratch:
            for name in STEPS:
                call = [sys.executable, __file__, "--step", name, str(members), f"{scratch}/sweep"]
                out = subprocess.run(call, check=True, capture_output=True, text=True).stdout
                rows.append({"step": name, "members": members, **json.loads(out)})
                row = rows[-1]
                print(
                    f"{name:8s} {members:7,} members  {row['seconds']:8.2f} s  "
                    f"{1e3 * row['seconds'] / members:7.3f} ms each  peak {row['mib']:6.0f} MiB",
                    flush=True,
                )
    if benchmark.json:
        Path(benchmark.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(step(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))))
    else:
        main(tyro.cli(Benchmark))
