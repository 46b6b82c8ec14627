"""Leases: of many processes on many hosts that share a folder, one at a time owns a thing in it.

A lease is a file `lease.<k>`, k = 1, 2, ...; whoever made the one of the highest number owns the
folder it is in. It is made by a hard link, which succeeds for one process alone, and only when
the one before it has been given up: its process is gone from this host, its heartbeat (the
time of its last change) has stopped, or it says that it was released. Numbers only grow as long
as the thing is unfinished, so a process that was slow to act on what it saw finds the number
taken. The file system's clock is the only one that is asked.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aedjax.sweep.files import temporary_name
from aedjax.sweep.processes import Process, this_process

HEARTBEAT_SECONDS = 10.0
"""Seconds between two heartbeats of a lease."""
EXPIRY_SECONDS = 90.0
"""Seconds without a heartbeat after which another host takes a lease over."""


class LeaseLostError(Exception):
    """Another process took a lease over, since this one was silent for too long."""


class Lease(NamedTuple):
    """A lease that this process made: its folder and its number."""

    folder: Path
    number: int

    @property
    def path(self) -> Path:
        """Its file."""
        return self.folder / f"lease.{self.number}"


class Holder(NamedTuple):
    """Who made a lease, how long ago its last heartbeat was, and whether it was given up."""

    process: Process
    silent_seconds: float
    released: bool

    def gone(self) -> bool:
        """Whether another process may take over."""
        if self.released:
            return True
        if self.process.here():
            return not self.process.alive()
        return self.silent_seconds > EXPIRY_SECONDS


def claim(folder: Path) -> Lease | None:
    """Become the owner of a folder; None if another process is."""
    content = json.dumps({"process": this_process(), "released": False})
    temporary = temporary_name(folder / "lease")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(content, encoding="utf-8")
        number = _highest(folder)
        if number and not _holder(folder, number, temporary.stat().st_mtime).gone():
            return None
        lease = Lease(folder, number + 1)
        os.link(temporary, lease.path)
        return lease
    except (FileExistsError, FileNotFoundError):
        return None  # Another one was faster, or has just finished and removed the folder.
    finally:
        temporary.unlink(missing_ok=True)


def holder(folder: Path) -> Holder | None:
    """Who owns a folder, or None; seconds are by this host's clock."""
    number = _highest(folder)
    if not number:
        return None
    found = _holder(folder, number, time.time())
    return None if found.gone() else found


def check(lease: Lease) -> None:
    """Raise LeaseLostError if another process took the lease over."""
    if _highest(lease.folder) != lease.number:
        raise LeaseLostError(f"{lease.folder.name} was taken over by another process")


def release(lease: Lease) -> None:
    """Give a lease up, the thing unfinished: any process may go on with it at once."""
    temporary = temporary_name(lease.path)
    try:
        temporary.write_text(json.dumps({"process": this_process(), "released": True}), "utf-8")
        os.replace(temporary, lease.path)
    finally:
        temporary.unlink(missing_ok=True)


def finish(lease: Lease) -> None:
    """Remove every lease of a thing that is finished, the highest last, and its folder if nothing
    else is in it."""
    for number in sorted(_numbers(lease.folder)):
        (lease.folder / f"lease.{number}").unlink(missing_ok=True)
    with suppress(OSError):
        lease.folder.rmdir()


def remove_dead(folder: Path) -> None:
    """Remove what is left of the leases of a thing that is finished, if whoever finished it is
    gone."""
    if _numbers(folder) and holder(folder) is None:
        finish(Lease(folder, 0))


def _numbers(folder: Path) -> list[int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    numbers = (name.removeprefix("lease.") for name in names if name.startswith("lease."))
    return [int(number) for number in numbers if number.isdigit()]


def _highest(folder: Path) -> int:
    return max(_numbers(folder), default=0)


def _holder(folder: Path, number: int, now: float) -> Holder:
    """What a lease's file says; one that cannot be read belongs to nobody."""
    path = folder / f"lease.{number}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        host, pid, started = content["process"]
        process = Process(str(host), int(pid), int(started))
        return Holder(process, now - path.stat().st_mtime, bool(content["released"]))
    except (OSError, ValueError, TypeError, KeyError):
        return Holder(Process("", 0, 0), 0.0, True)


@contextmanager
def heartbeat(lease: Lease) -> Iterator[None]:
    """Keep a lease fresh while the block runs, however long a computation blocks it."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                os.utime(lease.path)
            except OSError:
                continue  # A full or absent disk shows when the unit is written.

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
