"""`aedjax worker`: help run a sweep whose folder is there."""

from dataclasses import dataclass, field

from aedjax.commands.options import Folder, Running, RunningOptions


@dataclass(frozen=True)
class Worker:
    """Run units of a sweep until none is left; any number of workers share a folder.

    Examples:
        aedjax worker runs/quickstart
        aedjax worker runs/quickstart --begin 0.5 --no-wait
    """

    folder: Folder
    """Folder of a sweep."""
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
        ready(folder)
        return work_and_show(folder, self.running, self.begin, not self.no_wait, self.json)
