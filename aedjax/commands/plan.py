"""`aedjax plan`: what a sweep will need, before anything runs."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from aedjax.commands.options import Quiet, Settings, show


@dataclass(frozen=True)
class Plan:
    """Show a sweep's groups and units, and the memory, time and disk that they will need.

    Nothing is trained but for --measure, and nothing is written but the compilation cache.

    Examples:
        aedjax plan sweeps/quickstart.toml
        aedjax plan sweeps/quickstart.toml --measure --set sweep.seeds=64
        aedjax plan sweeps/quickstart.toml --memory 16GiB
    """

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """The sweep's TOML file."""
    settings: Settings = ()
    """A setting of the spec to replace; may be repeated."""
    width: int | None = None
    """The most members of a unit; what the devices suggest unless given."""
    memory: Annotated[str | None, tyro.conf.arg(metavar="SIZE")] = None
    """Memory of a device that may be used, as 16GiB; nearly all unless given."""
    measure: bool = False
    """Train each group for a second, to predict how long the sweep takes."""
    quiet: Quiet = False
    json: bool = False
    """Print as JSON."""

    def run(self) -> int:
        """Print the plan."""
        from aedjax.commands.devices import ready
        from aedjax.commands.forecast_table import content, print_forecast
        from aedjax.commands.running import reporting
        from aedjax.sweep.forecast import forecast
        from aedjax.sweep.memory import parse_bytes
        from aedjax.sweep.run import default_layout
        from aedjax.sweep.spec import load_spec

        spec = load_spec(self.spec, self.settings)
        memory = None if self.memory is None else parse_bytes("memory", self.memory)
        ready()
        layout = default_layout(self.width)
        with reporting(self.quiet) as report:
            found = forecast(spec, layout, memory, self.measure, report)
        show(self.json, content(spec, layout, found), lambda: print_forecast(layout, found))
        return 0 if all(one.width is not None for one in found) else 1
