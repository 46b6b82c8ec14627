"""`aedjax sweep`: run a sweep from its file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from aedjax.commands.options import Settings


@dataclass(frozen=True)
class Sweep:
    """Train every member of a sweep, analyse it, and draw its figures.

    Running the same command again goes on where it stopped.

    Examples:
        aedjax sweep sweeps/quickstart.toml --out runs/quickstart
        aedjax sweep sweeps/quickstart.toml --set model.hidden_size=32 --set sweep.seeds=8
    """

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """The sweep's TOML file."""
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""
    """Folder of the results; runs/NAME unless given."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    json: bool = False
    """Print the outcome as JSON."""

    def run(self) -> int:
        """Run the sweep."""
        from aedjax.commands.running import run_and_show
        from aedjax.sweep.spec import load_spec

        spec = load_spec(self.spec, self.settings)
        return run_and_show(spec, Path(self.out or f"runs/{spec.name}"), self.json)
