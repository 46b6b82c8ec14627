"""`aedjax train`: train one network, here and now."""

from dataclasses import dataclass, field
from typing import Annotated

import tyro

from aedjax.commands.options import Running, RunningOptions, Settings
from aedjax.errors import shown


@dataclass(frozen=True)
class Train:
    """Train and analyse one network: a sweep of one, with the same files.

    Examples:
        aedjax train --task escan --architecture aed --seed 0
        aedjax train --task sort --architecture ao --steps 500 --set model.hidden_size=32
    """

    task: str = "one_to_one"
    """Name of the task (aedjax list tasks)."""
    architecture: str = "aed"
    """Name of the architecture (aedjax list models)."""
    seed: int = 0
    """Seed of its data and its initial parameters."""
    steps: int = 1500
    """Training steps."""
    out: Annotated[str | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the results; runs/TASK-ARCHITECTURE-SEED unless given."""
    settings: Settings = ()
    """Any other setting of a spec; may be repeated."""
    running: Running = field(default_factory=RunningOptions)
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Train the network."""
        from aedjax.commands.running import Cut, run_and_show
        from aedjax.sweep.paths import output_folder
        from aedjax.sweep.sections import check_seed
        from aedjax.sweep.spec import spec_of_one

        check_seed(f"seed = {shown(self.seed)}", self.seed)
        spec = spec_of_one(self.task, self.architecture, self.seed, self.steps, self.settings)
        out = f"runs/{spec.name}" if self.out is None else self.out
        return run_and_show(spec, output_folder("out", out), Cut(), self.running, self.json)
