"""Who a process is, and whether it is still there: a host, a pid, and when that pid started."""

import os
import socket
from functools import cache
from typing import NamedTuple

import psutil

CLOCK_STEP = 200
"""Hundredths of a second by which the start of one process may seem to move: it is counted from
the boot, and the wall clock is corrected now and then."""


class Process(NamedTuple):
    """A process. `started` (in hundredths of a second since 1970) tells it from a later one of
    the same pid."""

    host: str
    pid: int
    started: int

    def here(self) -> bool:
        """Whether it runs, or ran, on this host."""
        return self.host == socket.gethostname()

    def alive(self) -> bool:
        """Whether it runs now; only its own host can tell."""
        try:
            process = psutil.Process(self.pid)
            gone = process.status() == psutil.STATUS_ZOMBIE
            return not gone and abs(_started(process) - self.started) <= CLOCK_STEP
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def _started(process: psutil.Process) -> int:
    return round(process.create_time() * 100)


@cache
def _of(pid: int) -> Process:
    return Process(socket.gethostname(), pid, _started(psutil.Process(pid)))


def this_process() -> Process:
    """The process that asks; after a fork, the child."""
    return _of(os.getpid())
