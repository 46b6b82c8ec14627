"""Several workers on this machine, each with its own cores or its own accelerators."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

POLL_SECONDS = 0.1


def accelerators() -> list[str]:
    """The ids of the accelerators of this machine that this process may use, without starting
    one."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [id for id in visible.split(",") if id]
    numbers = [path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*")]
    return sorted(numbers, key=int)


def shares(things: Sequence, workers: int) -> list[list]:
    """The things dealt out to workers; where there are too few, several share one."""
    return [list(things[k::workers]) or [things[k % len(things)]] for k in range(workers)]


def start_workers(folder: Path, workers: int, options: Sequence[str]) -> list[subprocess.Popen]:
    """Start workers on a sweep's folder, each beginning at another place in its list of units."""
    command = [sys.executable, "-m", "aedjax", "worker", str(folder), *options]
    chips = accelerators()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    processes = []
    for k in range(workers):
        environment = dict(os.environ)
        if chips:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(shares(chips, workers)[k])
        process = subprocess.Popen(
            [*command, f"--begin={k / workers}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # The parent says what came out.
            start_new_session=True,  # Ctrl-C reaches the parent alone, which passes it on.
        )
        if cores:
            os.sched_setaffinity(process.pid, shares(cores, workers)[k])
        processes.append(process)
    return processes


def wait_for(processes: Sequence[subprocess.Popen], stopping: Callable[[], bool]) -> list[int]:
    """Wait until all workers have ended, and return their exit codes.

    Once `stopping()` holds they are asked to stop; they keep what they have trained.
    """
    told = False
    while any(process.poll() is None for process in processes):
        if stopping() and not told:
            told = True
            for process in processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
        time.sleep(POLL_SECONDS)
    return [process.returncode for process in processes]
