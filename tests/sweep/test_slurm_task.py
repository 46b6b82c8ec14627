"""Tasks of SLURM, with shell scripts for workers."""

import signal
import subprocess

import pytest

from aedjax.sweep import slurm_task
from aedjax.sweep.slurm_task import SlurmTask
from tests.launch import quiet  # noqa: F401
from tests.launch.cluster import wait_until


def shell(script: str, patience: float = 30.0) -> SlurmTask:
    """A task whose worker is a shell script."""
    return SlurmTask(["bash", "-c", script], patience)


def test_a_task_fails_with_its_worker_and_only_then():
    shell("exit 0")()
    with pytest.raises(RuntimeError, match="exit code 3"):
        shell("exit 3")()
    with pytest.raises(RuntimeError, match="exit code -9"):
        shell("kill -9 $$")()


def test_the_warning_is_not_for_the_worker():
    shell("kill -USR2 $$; exit 0")()


def test_a_task_whose_worker_was_told_to_end_waits_for_its_own_end(monkeypatch):
    slept = []
    monkeypatch.setattr(slurm_task.time, "sleep", slept.append)
    for script in ("exit 130", "kill -TERM $$"):
        with pytest.raises(RuntimeError, match="exit code"):
            shell(script)()
        assert slept.pop() == slurm_task.ENDED_SECONDS


def test_a_checkpoint_waits_until_the_worker_has_written_its_own(tmp_path):
    started, saved = tmp_path / "started", tmp_path / "saved"
    task = shell(
        f"trap 'sleep 0.5; touch {saved}; exit 130' TERM; touch {started}; "
        "while true; do sleep 0.1; done"
    )
    process = subprocess.Popen(task.command)
    task.pid = process.pid
    assert wait_until(started.exists, 30)
    again = task.checkpoint()
    assert saved.exists()
    assert process.wait() == 130
    assert again.function.command == task.command
    assert again.function.pid is None


def test_a_worker_that_cannot_end_in_time_is_killed(tmp_path):
    started = tmp_path / "started"
    task = shell(f"trap '' TERM; touch {started}; while true; do sleep 0.1; done", patience=0.5)
    process = subprocess.Popen(task.command)
    task.pid = process.pid
    assert wait_until(started.exists, 30)
    assert task.checkpoint() is not None
    assert process.wait() == -signal.SIGKILL
