"""Sweeps on a real SLURM."""

import os
import re
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.launch import cluster
from tests.launch.sweeps import launched, logs, whole, with_set, working
from tests.sweep.processes import assert_same_units, leftovers, statuses, write_spec

pytestmark = pytest.mark.slow

LONG = ('model.architecture=["aed", "ao"]', "train.steps=2000", "sweep.seeds=3")
"""Six units of two members in two groups."""


@pytest.fixture
def slurm_cluster():
    """The environment of a SLURM cluster's clients."""
    # The path of a socket is at most a hundred characters long.
    with tempfile.TemporaryDirectory(prefix="slurm") as folder:
        try:
            with cluster.running(Path(folder)) as variables:
                yield variables
        except cluster.MissingError as error:
            pytest.skip(str(error))


def victims(folder: Path, struck: list[str]) -> list[tuple[str, int]]:
    """Tasks, by their place in the array, and pids of workers that are amid a unit and were not
    struck yet."""
    found = []
    for pid in working(folder):
        # It may have ended since.
        with suppress(psutil.Error, KeyError):
            found.append((psutil.Process(pid).environ()["SLURM_ARRAY_TASK_ID"], pid))
    return [(task, pid) for task, pid in found if task not in struck]


def job(name: str, variables: dict[str, str]) -> dict[str, str]:
    """What SLURM knows of a job."""
    text = cluster.output(["scontrol", "show", "job", name, "-o"], variables).decode()
    return dict(re.findall(r"(\w+)=(\S*)", text))


def test_tasks_of_slurm_are_killed_warned_and_requeued_and_nothing_is_lost(slurm_cluster, tmp_path):
    spec = write_spec(tmp_path)
    folder = tmp_path / "out"
    options = ("--partition=test", "--array=3", "--cpus-per-task=1", *with_set(LONG))
    process = launched(spec, folder, "--partition=none", SLURM_CONF=slurm_cluster["SLURM_CONF"])
    _, err = process.communicate()
    assert process.returncode == 2
    assert b"invalid partition specified" in err
    process = launched(spec, folder, *options, SLURM_CONF=slurm_cluster["SLURM_CONF"])
    out, err = process.communicate()
    assert process.returncode == 0, err
    number = re.match(rb"submitted  3 tasks, job (\d+)\n", out).group(1).decode()

    # Three faults for three tasks, each amid a unit: kill -9, the warning, a requeue from outside.
    struck: list[str] = []
    for strike in ("kill", "warn", "requeue"):
        found = cluster.wait_until(lambda: victims(folder, struck), 240)
        assert found, logs(folder)
        task, pid = found[0]
        struck.append(task)
        name = f"{number}_{task}"
        if strike == "kill":
            os.kill(pid, signal.SIGKILL)
        elif strike == "warn":
            cluster.output(["scancel", "--signal=USR2", name], slurm_cluster)
        else:
            cluster.output(["scontrol", "requeue", name], slurm_cluster)
        time.sleep(1.0)

    assert cluster.wait_until(
        lambda: not cluster.output(["squeue", "-h", "-j", number], slurm_cluster), 400
    ), logs(folder)
    killed, warned, requeued = (job(f"{number}_{task}", slurm_cluster) for task in struck)
    assert killed["JobState"] == "FAILED"
    assert (warned["JobState"], warned["Restarts"]) == ("COMPLETED", "1")
    assert (requeued["JobState"], requeued["Restarts"]) == ("COMPLETED", "1")
    assert len(re.findall(r"unit \w+ goes on from step \d+", logs(folder))) >= 3
    found = statuses(folder)
    assert found["ok"] == sum(found.values()) == 12
    assert_same_units(folder, whole(tmp_path / "whole", spec, *LONG))
    assert {path.relative_to(folder).parts[0] for path in leftovers(folder)} == {"slurm"}
