"""Sweeps that launch/slurm.py starts, and what can be seen of their workers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import load_spec
from launch import slurm
from tests.sweep.processes import ENVIRONMENT

PROGRAM = Path(slurm.__file__)
CUT = ("--width=2", "--checkpoint-steps=20")


def whole(folder: Path, spec: Path, *settings: str) -> Path:
    """The folder of a sweep that nothing interrupts."""
    run_sweep(load_spec(spec, settings), folder, Silent(), width=2)
    return folder


def launched(spec: Path, folder: Path, *options: str, **variables: str) -> subprocess.Popen:
    """Start launch/slurm.py."""
    command = [sys.executable, str(PROGRAM), str(spec), "--out", str(folder), *CUT, *options]
    return subprocess.Popen(
        command,
        env={**os.environ, **ENVIRONMENT, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def with_set(settings: Iterable[str]) -> list[str]:
    """Settings as options."""
    return [f"--set={setting}" for setting in settings]


def working(folder: Path) -> dict[int, str]:
    """The workers that are amid a unit that they can go on with: the unit by pid."""
    found = {}
    for lease in sorted(folder.glob("units/*/*/lease.*")):
        unit = lease.parent
        saved = [path for path in unit.glob("checkpoints/*") if path.name.isdigit()]
        try:
            _, pid, _ = json.loads(lease.read_text())["process"]
        except (OSError, ValueError):
            continue
        if saved and not unit.with_suffix(".npz").exists() and psutil.pid_exists(pid):
            found[pid] = unit.name
    return found


def logs(folder: Path) -> str:
    """All that the tasks and their workers said."""
    return "".join(path.read_text() for path in sorted((folder / "slurm").glob("*_log.*")))
