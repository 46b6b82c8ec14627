"""Run a sweep as one program over several hosts, as on a slice of a TPU pod (`jax.distributed`).

Start it once on every host, with the same arguments but for --process. Every unit is then cut
over the devices of all hosts. The folder must be one that all of them see; the first process
writes it. What is there already, from a run of any kind, is kept, and the same command goes on.

A signal to one process stops all of them, with a checkpoint; when one dies, the others end.
Exit codes: 0 finished, 1 something failed, 2 bad input, 130 interrupted.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import jax
import tyro

from aedjax.cli import complete, prepare_jax
from aedjax.commands.options import Running, RunningOptions, Settings
from aedjax.commands.running import reporting, show_outcome
from aedjax.errors import FailureError, InputError, reason
from aedjax.sweep.backends import mesh_for
from aedjax.sweep.hosts import HostError, is_leader
from aedjax.sweep.paths import output_folder
from aedjax.sweep.run import open_sweep, outcome_of, report_plan
from aedjax.sweep.spec import Spec, load_spec
from aedjax.sweep.stop import stopping_on_signals
from aedjax.sweep.worker import Worker

GOODBYE_SECONDS = 60
"""How long a process waits for the others at the end."""


@dataclass(frozen=True)
class Multihost:
    """Run a sweep as one program over several hosts; start it on each of them.

    On TPU pods and under SLURM or Open MPI the processes find each other; elsewhere say who
    they are.

    Examples:
        python launch/multihost.py sweeps/quickstart.toml --out runs/quickstart
        python launch/multihost.py sweeps/quickstart.toml --out runs/quickstart \\
            --coordinator host0:7733 --processes 2 --process 0
    """

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """The sweep's TOML file."""
    out: Annotated[str, tyro.conf.arg(metavar="DIR")]
    """Folder of the results, on a file system that all hosts share."""
    coordinator: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None
    """Address of process 0, with a free port."""
    processes: int | None = None
    """How many processes there are."""
    process: int | None = None
    """Which of them this is, from 0."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    width: int | None = None
    """The most members of a unit of a new sweep; what the devices suggest unless given."""
    running: Running = field(default_factory=RunningOptions)
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Run the sweep's units with the other processes; the first one shows what came out."""
        if self.width is not None and self.width < 1:
            raise InputError(f"width = {self.width} is too small; use at least 1")
        spec = load_spec(self.spec, self.settings)
        folder = output_folder("out", self.out)
        prepare_jax()
        if self.running.no_cache:
            jax.config.update("jax_enable_compilation_cache", False)
        self.join()
        try:
            self.work(spec, folder)
        except (HostError, OSError) as error:
            print(f"aedjax: error: {reason(error)}; the same command goes on", file=sys.stderr)
            os._exit(1)  # Not every process is here to shut down with.
        except (FailureError, InputError, KeyboardInterrupt):
            jax.distributed.shutdown()  # Every process is here.
            raise
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # The others learn of it by the connections that break.
        # The others need not wait while the first gathers the data.
        jax.distributed.shutdown()
        if not is_leader():
            return 0
        return show_outcome(spec, folder, outcome_of(folder), self.running.quiet, self.json)

    def join(self) -> None:
        """Meet the other processes.

        Raises:
            InputError: if who they are is not known, or they are not there.
        """
        who = {
            "coordinator": self.coordinator,
            "processes": self.processes,
            "process": self.process,
        }
        missing = [name for name, value in who.items() if value is None]
        if 0 < len(missing) < len(who):
            raise InputError(f"{missing[0]} is not given; give all of {', '.join(who)}, or none")
        # Signals are for the worker: it ends with a checkpoint.
        jax.config.update("jax_enable_preemption_service", False)
        try:
            jax.distributed.initialize(
                self.coordinator,
                self.processes,
                self.process,
                shutdown_timeout_seconds=GOODBYE_SECONDS,
            )
            jax.devices()
        except (RuntimeError, ValueError) as error:
            raise InputError(
                f"coordinator = {self.coordinator!r}: the processes did not meet "
                f"({reason(error).rstrip('.')}); give all of {', '.join(who)}"
            ) from None

    def work(self, spec: Spec, folder: Path) -> None:
        """Run units with the other processes until none is left."""
        options = self.running.options()
        silent = self.running.quiet or not is_leader()
        with output_to_errors(), reporting(silent) as report, stopping_on_signals() as stop:
            record = open_sweep(spec, folder, report, self.width)
            for width in {unit.width for unit in record.plan.units}:
                mesh_for(width)  # A width that does not suit the processes is refused here.
            report_plan(folder, record, report)
            Worker(folder, record, report, options, stop).work()


@contextmanager
def output_to_errors() -> Iterator[None]:
    """Send to standard error what libraries write to standard output, as Gloo does: it is no
    result."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def main() -> int:
    command = tyro.cli(Multihost, config=(tyro.conf.FlagCreatePairsOff,))
    return complete(command.run)


if __name__ == "__main__":
    sys.exit(main())
