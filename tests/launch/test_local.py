"""launch/local.sh, with a script for the Python that it calls."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "launch" / "local.sh"


def ran(folder: Path, accelerators: int, *arguments: str, cores: int = 8):
    """What the program did on a machine of so many accelerators: code, output, what it called."""
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && echo {accelerators} && exit\necho "$@"\nexit 7\n'
    )
    python.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(python), "CORES": str(cores)}
    return subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(("accelerators", "cores", "workers"), [(3, 8, 3), (0, 10**6, 1)])
def test_a_worker_for_every_accelerator_or_group_of_cores(tmp_path, accelerators, cores, workers):
    found = ran(tmp_path, accelerators, "a spec.toml", "--out=x", cores=cores)
    assert found.stdout == f"-m aedjax sweep a spec.toml --out=x --workers {workers}\n"
    assert found.returncode == 7


def test_a_group_of_one_core_has_a_worker_a_core(tmp_path):
    found = ran(tmp_path, 0, "spec.toml", cores=1)
    assert found.stdout.endswith(f"--workers {len(os.sched_getaffinity(0))}\n")


def test_without_a_spec_its_usage_is_shown(tmp_path):
    found = ran(tmp_path, 0)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("usage: launch/local.sh SPEC")
