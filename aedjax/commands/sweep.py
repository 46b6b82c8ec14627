"""`aedjax sweep`: run a sweep from its file."""

from dataclasses import dataclass, field
from typing import Annotated

import tyro

from aedjax.commands.options import Running, RunningOptions, Settings


@dataclass(frozen=True)
class Sweep:
    """Train every member of a sweep, analyse it, and draw its figures.

    Running the same command again goes on where it stopped; with longer axes it adds to what is
    there. Several of these commands at once, on any hosts that share the folder, share the work.

    Examples:
        aedjax sweep sweeps/quickstart.toml --out runs/quickstart
        aedjax sweep sweeps/quickstart.toml --set model.hidden_size=32 --set sweep.seeds=8
        aedjax sweep sweeps/quickstart.toml --workers 2 --checkpoint-minutes 1
    """

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """The sweep's TOML file."""
    out: Annotated[str | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the results; runs/NAME unless given."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    width: int | None = None
    """The most members of a unit; what the devices suggest unless given."""
    tune: bool = False
    """Time three widths for each group first, and use the fastest."""
    workers: int = 1
    """Processes on this machine, each with its share of the cores or accelerators."""
    running: Running = field(default_factory=RunningOptions)
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Run the sweep."""
        from aedjax.commands.running import Cut, run_and_show
        from aedjax.sweep.paths import output_folder
        from aedjax.sweep.spec import load_spec

        spec = load_spec(self.spec, self.settings)
        out = f"runs/{spec.name}" if self.out is None else self.out
        cut = Cut(self.width, self.tune, self.workers)
        return run_and_show(spec, output_folder("out", out), cut, self.running, self.json)
