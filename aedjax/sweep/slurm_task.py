"""A worker as a task of SLURM: it ends in good order where it is warned, and goes on requeued."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

POLL_SECONDS = 0.2
ENDED_SECONDS = 600
"""How long a task whose worker was told to end waits for SLURM to end or requeue the task."""


class SlurmTask:
    """A task, which submitit calls: a worker in a process of its own.

    Where SLURM tells that it will end the task (SIGUSR2), submitit calls `checkpoint` from its
    handler of the signal, puts what it returns in the place of the task, and requeues that.
    """

    def __init__(self, command: Sequence[str], patience: float):
        self.command, self.patience = list(command), patience
        self.pid: int | None = None

    def __call__(self) -> None:
        """Run the worker to its end.

        Raises:
            RuntimeError: if it failed, so that SLURM shows the task as failed.
        """
        import submitit

        # SLURM signals every process of a task. The warning is for this one; the worker ignores it.
        ignoring = f"trap '' {submitit.JobEnvironment.USR_SIG}; exec \"$@\""
        process = subprocess.Popen(["sh", "-c", ignoring, "sh", *self.command])
        self.pid = process.pid
        try:
            while not ended(self.pid):
                time.sleep(POLL_SECONDS)
        except BaseException:
            if not ended(self.pid):
                os.kill(self.pid, signal.SIGTERM)
            raise
        code = process.wait()
        if code in (130, -signal.SIGTERM):
            # SLURM told every process to end. It will end this one or requeue it; a task that
            # ended by itself would not be requeued.
            time.sleep(ENDED_SECONDS)
        if code:
            raise RuntimeError(f"the worker ended with exit code {code}; what it said is above")

    def checkpoint(self) -> Any:
        """Let the worker write its checkpoint and end; return what goes on in its place."""
        from submitit.helpers import DelayedSubmission

        deadline = time.monotonic() + self.patience
        if self.pid is not None and not ended(self.pid):
            os.kill(self.pid, signal.SIGTERM)
            while not ended(self.pid) and time.monotonic() < deadline:
                time.sleep(POLL_SECONDS)
            if not ended(self.pid):
                os.kill(self.pid, signal.SIGKILL)
        return DelayedSubmission(SlurmTask(self.command, self.patience))


def ended(pid: int) -> bool:
    """Whether a child of this process has ended.

    It leaves the child to be waited for. Popen's own methods lock, and cannot be called in a
    handler of a signal that may arrive inside one of them.
    """
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    return True
