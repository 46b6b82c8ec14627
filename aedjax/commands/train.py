"""`aedjax train`: train one network, here and now."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from aedjax.commands.options import Settings


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
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""
    """Folder of the results; runs/TASK-ARCHITECTURE-SEED unless given."""
    settings: Settings = ()
    """Any other setting of a spec; may be repeated."""
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Train the network."""
        from aedjax.commands.running import run_and_show
        from aedjax.sweep.spec import spec_of_one

        spec = spec_of_one(self.task, self.architecture, self.seed, self.steps, self.settings)
        return run_and_show(spec, Path(self.out or f"runs/{spec.name}"), self.json)
