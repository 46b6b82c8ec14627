"""Real `aedjax` processes for tests, on sweeps small enough to be killed often."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.conftest import CACHE

SPEC = """
name = "tiny"
[task]
min_length = 3
max_length = 5
[model]
architecture = "ao"
hidden_size = 8
[train]
steps = 300
batch_size = 8
learning_rate = [0.003, 0.01]
[analysis]
samples = 16
every = 100
[sweep]
seeds = 4
"""
"""Eight members of one group; cut at width 2, four units."""


ENVIRONMENT = {
    "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    "JAX_COMPILATION_CACHE_DIR": str(CACHE),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
}
"""Two host devices and the tests' compilation cache."""


def start(*arguments: str, **options) -> subprocess.Popen:
    """Start `aedjax`."""
    return subprocess.Popen(
        [sys.executable, "-m", "aedjax", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        **options,
    )


def run(*arguments: str) -> tuple[int, str, str]:
    """Run `aedjax` to its end: exit code, standard output, standard error."""
    process = start(*arguments)
    out, err = process.communicate()
    return process.returncode, out, err


def write_spec(folder: Path) -> Path:
    """The spec as a file."""
    path = folder / "tiny.toml"
    path.write_text(SPEC)
    return path


def unit_arrays(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Every array of every finished unit but its provenance, by unit."""
    found = {}
    for path in sorted(folder.glob("units/*/*.npz")):
        with np.load(path) as arrays:
            found[path.stem] = {name: arrays[name] for name in arrays.files if name != "provenance"}
    return found


def assert_same_units(folder: Path, other: Path) -> None:
    """Two folders have the same units with bitwise the same results."""
    one, two = unit_arrays(folder), unit_arrays(other)
    assert one.keys() == two.keys()
    for unit, arrays in one.items():
        assert arrays.keys() == two[unit].keys()
        for name, values in arrays.items():
            assert values.tobytes() == two[unit][name].tobytes(), (unit, name)


def leftovers(folder: Path) -> list[Path]:
    """Whatever is in a finished sweep's folder and should not be."""
    kept = {"sweep.json", "vocabularies.json"}
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.name not in kept
        and path.suffix != ".npz"
        and path.relative_to(folder).parts[0] not in ("results.zarr", "figures")
    ]


def statuses(folder: Path) -> dict[str, int]:
    """The counts of `aedjax status`."""
    code, out, err = run("status", str(folder), "--json")
    assert code == 0, err
    return json.loads(out)["counts"]
