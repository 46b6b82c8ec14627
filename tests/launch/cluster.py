"""A SLURM cluster on this machine: munged, slurmctld and slurmd on loopback, as child processes.

Debian's packages are installed where this is run as root and they are missing.
"""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DAEMONS = ("munged", "slurmctld", "slurmd")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# A requeued job is eligible again only when its credential has expired.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
JobRequeue=0
KillWait=20
InactiveLimit=0
MinJobAge=300
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
"""Four cores whatever there are; accounting, cgroups and affinity are left out."""


INSTALL_SECONDS = 300


class MissingError(Exception):
    """There is no SLURM, and it cannot be installed."""


def install() -> None:
    """Install what is missing.

    Raises:
        MissingError: if that is not possible here.
    """
    missing = [name for name in DAEMONS if find(name) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise MissingError(f"{', '.join(missing)} missing, and only root can apt-get them")
    for command in (["update"], ["install", "-y", "--no-install-recommends", "slurm-wlm", "munge"]):
        try:
            process = subprocess.run(
                ["apt-get", *command],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise MissingError(f"apt-get {command[0]} took over {INSTALL_SECONDS} s") from None
        if process.returncode:
            raise MissingError(f"apt-get {command[0]} failed: {process.stderr.strip()[-200:]}")


def find(daemon: str) -> str | None:
    """The path of a daemon; a user's PATH need not have it."""
    return shutil.which(daemon, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def version() -> tuple[int, ...]:
    """The version of SLURM, as (22, 5, 8)."""
    answer = subprocess.run([str(find("slurmd")), "-V"], capture_output=True, text=True).stdout
    return tuple(map(int, re.findall(r"\d+", answer)))


@contextlib.contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """A cluster that runs in an empty folder of a short path; gives what its clients need in
    their environment.

    Raises:
        MissingError: if it cannot be started here.
    """
    if os.geteuid() != 0:
        raise MissingError("the cluster's daemons are started as root")
    install()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    ports = free_ports(2)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(host=host, folder=folder, controller_port=ports[0], node_port=ports[1])
    )
    # Cgroups may not be this machine's to use; older versions look for them only where asked to.
    if version() >= (23, 11):
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    munge = [
        f"--{option}={folder}/munge.{end}"
        for option, end in (
            ("key-file", "key"),
            ("socket", "socket"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        )
    ]
    commands = (
        ["munged", "--foreground", "--force", *munge],
        ["slurmctld", "-D"],
        ["slurmd", "-D", "-N", host],
    )
    with contextlib.ExitStack() as stack:
        for name, *options in commands:
            log = stack.enter_context(open(folder / f"{name}.out", "wb"))
            process = subprocess.Popen(
                [str(find(name)), *options], env=environment, stdout=log, stderr=log
            )
            stack.callback(end, process)
            if name == "munged":
                wait_until(lambda: (folder / "munge.socket").exists(), 20)
        if not wait_until(lambda: b"idle" in output(["sinfo", "-h", "-o", "%T"], environment), 60):
            logs = "\n".join(
                f"{path.name}: {path.read_text(errors='replace')[-2000:]}"
                for path in (*folder.glob("*.log"), *folder.glob("*.out"))
            )
            raise MissingError(f"SLURM does not start here:\n{logs}")
        # Jobs go before the daemons that could end them.
        stack.callback(cancel_all, environment)
        yield environment


def cancel_all(environment: dict[str, str]) -> None:
    """End every job of the cluster."""
    output(["scancel", "--partition=test"], environment)
    wait_until(lambda: not output(["squeue", "-h"], environment), 60)


def end(process: subprocess.Popen) -> None:
    """End a daemon in good order, or else by force."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def output(command: list[str], environment: dict[str, str]) -> bytes:
    """What a client of the cluster prints."""
    return subprocess.run(command, env=environment, capture_output=True).stdout.strip()


def wait_until(condition: Callable[[], Any], seconds: float) -> Any:
    """Wait until a condition holds, and return what it gave; None if it does not for so long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    return None


def free_ports(number: int) -> list[int]:
    """Ports of loopback that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
