"""Run a sweep on a SLURM cluster: an array of workers that share its folder.

    python launch/slurm.py sweeps/quickstart.toml --partition gpu --gpus-per-node 1 --array 16

This program only submits; it needs no accelerator where it runs. The first task that starts lays
the sweep out for the devices of its node, and all claim units until none is left. A task that is
pre-empted or reaches its time limit writes a checkpoint and is requeued; the units of one that is
killed are taken over by the others. Running the program again goes on with what is left, tries
again what failed, and extends the sweep where its axes grew.

The sweep's folder must be on a file system that the nodes share, and so must the Python that
runs this program and its packages. In the folder's `slurm/` are a copy of the spec, the tasks'
logs, and submitit's own pickles, from which submitit starts a task; aedjax reads none of them.

Exit codes: 0 submitted (with --local: finished), 1 something failed, 2 bad input, 130 interrupted.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import jax
import tyro

from aedjax.cli import complete
from aedjax.commands.options import Repeated, Running, RunningOptions, Settings, pairs
from aedjax.errors import InputError, reason
from aedjax.sweep.memory import parse_bytes
from aedjax.sweep.paths import output_folder
from aedjax.sweep.record import open_record
from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import open_sweep, vocabularies
from aedjax.sweep.slurm_task import SlurmTask
from aedjax.sweep.spec import Spec, load_spec

LEAST = {"width": 1, "array": 1, "gpus_per_node": 0, "cpus_per_task": 1, "requeues": 0}
LEAST |= {"time_minutes": 1, "signal_seconds": 1}
"""The least value of an option."""


@dataclass(frozen=True)
class Submission:
    """Run a sweep by an array of SLURM tasks, each a worker."""

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """The sweep's TOML file."""
    out: Annotated[str | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the results, shared by the nodes; runs/NAME unless given."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    width: int | None = None
    """The most members of a unit; what the devices of the first task suggest unless given."""
    array: int = 1
    """How many tasks."""
    partition: str | None = None
    """Partition of the cluster; its default unless given."""
    gpus_per_node: int = 0
    """GPUs of every task."""
    cpus_per_task: int | None = None
    """CPU cores of every task; the cluster's default unless given."""
    mem: Annotated[str | None, tyro.conf.arg(metavar="SIZE")] = None
    """Main memory of every task, as 32GiB; the cluster's default unless given."""
    time_minutes: int = 60
    """Time limit of a task, which is then requeued."""
    signal_seconds: int = 120
    """How long before the limit a task is told, to have time for a checkpoint."""
    requeues: int = 1000
    """How often a task may reach its time limit."""
    sbatch: Repeated = ()
    """An option of sbatch, as account=lab; may be repeated."""
    running: Running = field(default_factory=RunningOptions)
    no_wait: bool = False
    """End a task when all that is left is run by others, instead of waiting in case they die."""
    local: bool = False
    """Run the tasks on this machine, to try things out, and wait for them."""

    def run(self) -> int:
        """Submit the tasks; return the exit code."""
        self.check()
        spec = load_spec(self.spec, self.settings)
        out = f"runs/{spec.name}" if self.out is None else self.out
        # A task need not start where this program did.
        folder = Path(os.path.abspath(output_folder("out", out)))
        check_folder(spec, folder, self.width)
        executor = self.executor(folder / "slurm", spec.name)
        # A task may start when the file has long been edited.
        content = Path(self.spec).read_bytes()
        copy = folder / "slurm" / f"spec.{hashlib.sha256(content).hexdigest()[:12]}.toml"
        copy.write_bytes(content)
        try:
            with executor.batch():
                jobs = [executor.submit(self.task(folder, copy, k)) for k in range(self.array)]
        except RuntimeError as error:
            raise InputError(f"the tasks are refused ({reason(error)}); see the options") from None
        ids = ", ".join(dict.fromkeys(job.job_id.partition("_")[0] for job in jobs))
        print(f"submitted  {self.array} {'task' if self.array == 1 else 'tasks'}, job {ids}")
        print(f"watch      aedjax status {folder} --live  (from the start of the first task)")
        print(f"logs       {folder / 'slurm'}", flush=True)
        return wait_for(jobs) if self.local else 0

    def check(self) -> None:
        """Raise InputError for an option that is out of range."""
        self.running.options()
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} = {value} is too small; use at least {least}")
        if self.signal_seconds >= 60 * self.time_minutes:
            raise InputError(
                f"signal_seconds = {self.signal_seconds} is all of time_minutes = "
                f"{self.time_minutes}; use less, or give the tasks more time"
            )

    def executor(self, folder: Path, name: str) -> Any:
        """What submits tasks: submitit's executor for SLURM, or for this machine.

        Raises:
            InputError: if submitit or SLURM is missing, or the folder cannot be written.
        """
        try:
            import submitit
        except ImportError:
            message = "submitit is not installed; install it with `pip install submitit`"
            raise InputError(message) from None
        if not self.local and shutil.which("sbatch") is None:
            raise InputError(
                "sbatch is not found; run this where a SLURM cluster is submitted to, or with "
                "--local"
            )
        memory = None if self.mem is None else parse_bytes("mem", self.mem) / 2**30
        options = {"requeue": True, **pairs("sbatch", self.sbatch)}
        # What srun starts gets the cores of its job only if it is told again (SLURM 22.05 on).
        cpus = [] if self.cpus_per_task is None else [f"--cpus-per-task={self.cpus_per_task}"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"out = {str(folder.parent)!r} cannot be written ({error.strerror}); choose "
                "another folder"
            ) from None
        times = {f"{cluster}_max_num_timeout": self.requeues for cluster in ("slurm", "local")}
        executor = submitit.AutoExecutor(folder, "local" if self.local else "slurm", **times)
        executor.update_parameters(
            name=name,
            timeout_min=self.time_minutes,
            gpus_per_node=self.gpus_per_node or None,
            cpus_per_task=self.cpus_per_task,
            mem_gb=memory,
            tasks_per_node=1,
            slurm_partition=self.partition,
            slurm_signal_delay_s=self.signal_seconds,
            slurm_additional_parameters=options,
            slurm_srun_args=cpus,
        )
        return executor

    def task(self, folder: Path, spec: Path, k: int) -> SlurmTask:
        """The k-th task: a worker that begins at its own place in the list of units."""
        command = [sys.executable, "-m", "aedjax", "worker", str(folder), f"--spec={spec}"]
        command += [f"--set={setting}" for setting in self.settings]
        command += [] if self.width is None else [f"--width={self.width}"]
        command += ["--no-wait"] if self.no_wait else []
        command += [f"--begin={k / self.array}", *self.running.arguments()]
        # A worker that is not done with its checkpoint by then would keep the task from requeuing.
        return SlurmTask(command, patience=0.75 * self.signal_seconds)


class NewSweepError(Exception):
    """A folder has no sweep yet."""


def check_folder(spec: Spec, folder: Path, width: int | None) -> None:
    """Open the sweep in a folder, or see that a task will be able to.

    Raises:
        InputError: if the folder holds another sweep or anything else, or a task's file is not in
            its format.
    """

    def layout() -> Any:
        raise NewSweepError

    # Nothing is computed here, and an accelerator of this host may be another user's.
    jax.config.update("jax_platforms", "cpu")
    with suppress(NewSweepError):
        open_record(folder, spec, vocabularies(spec), layout)
        open_sweep(spec, folder, Silent(), width)


def wait_for(jobs: Sequence[Any]) -> int:
    """Wait until all tasks of this machine have ended; the exit code is 1 if one failed."""
    try:
        failed = [job.job_id for job in jobs if job.exception() is not None]
    except BaseException:
        for job in jobs:
            job.cancel()
        raise
    for job in failed:
        print(f"aedjax: task {job} failed; see its log", file=sys.stderr)
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments, submit, and return the exit code."""
    return complete(
        lambda: tyro.cli(
            Submission,
            prog="launch/slurm.py",
            description=__doc__,
            args=arguments,
            config=(tyro.conf.FlagCreatePairsOff,),
        ).run()
    )


if __name__ == "__main__":
    sys.exit(main())
