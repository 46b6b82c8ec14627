"""`aedjax worker`: help run a sweep whose folder is there."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, Running, RunningOptions, Settings
from aedjax.errors import InputError


@dataclass(frozen=True)
class Worker:
    """Run units of a sweep until none is left; any number of workers share a folder.

    Examples:
        aedjax worker runs/quickstart
        aedjax worker runs/quickstart --begin 0.5 --no-wait
        aedjax worker runs/quickstart --spec sweeps/quickstart.toml
    """

    folder: Folder
    """Folder of a sweep."""
    spec: Annotated[str | None, tyro.conf.arg(metavar="SPEC")] = None
    """The sweep's TOML file: whichever worker comes first opens the sweep, cut for its devices."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    width: int | None = None
    """The most members of a unit, where this worker opens the sweep."""
    running: Running = field(default_factory=RunningOptions)
    begin: float = 0.0
    """Where in the list of units to begin, from 0 to 1: workers that begin apart meet less."""
    no_wait: bool = False
    """End when all that is left is run by others, instead of waiting in case they die."""
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Work until nothing is left."""
        from aedjax.commands.devices import ready
        from aedjax.commands.running import work_and_show
        from aedjax.sweep.paths import sweep_folder

        folder = sweep_folder(self.folder)
        ready(folder, self.running.no_cache)
        self.open(folder)
        return work_and_show(folder, self.running, self.begin, not self.no_wait, self.json)

    def open(self, folder: Path) -> None:
        """Open the sweep of the spec, if there is one and the folder does not have it already."""
        from aedjax.sweep.record import read_record
        from aedjax.sweep.reporter import Silent
        from aedjax.sweep.run import open_sweep
        from aedjax.sweep.spec import load_spec

        if self.spec is None:
            if self.settings or self.width is not None:
                raise InputError("set and width belong to a spec; give --spec too")
            return
        spec = load_spec(self.spec, self.settings)
        known = read_record(folder).specs if (folder / "sweep.json").exists() else ()
        # What was extended since is not to be cut back by a worker that is started again.
        if all(spec.document != one.document for one in known):
            open_sweep(spec, folder, Silent(), self.width)
