"""`aedjax compare`: tasks and architectures side by side on one metric."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, Repeated, pairs, print_table, show
from aedjax.errors import unknown


@dataclass(frozen=True)
class Compare:
    """Compare tasks and architectures on a metric, with intervals over seeds.

    Examples:
        aedjax compare runs/quickstart --metric sequence_accuracy
        aedjax compare runs/quickstart --metric share --select decoder_part=temporal \\
            --select encoder_part=temporal --select kind=centred \\
            --select method=joint --select fit=cross
    """

    folder: Folder
    """Folder of a sweep."""
    metric: str = "token_accuracy"
    """Name of the metric (aedjax list metrics); NAME_initial is the untrained network's."""
    select: Repeated = ()
    """The label of a dimension, for a metric that has some; may be repeated."""
    to: Annotated[str, tyro.conf.arg(metavar="table|json")] = "table"
    """A table for people or JSON for programs."""

    def run(self) -> int:
        """Print the comparison."""
        from aedjax.stats import compare, render_table, to_records
        from aedjax.sweep.dataset import load
        from aedjax.sweep.paths import sweep_folder

        if self.to not in ("table", "json"):
            raise unknown("to", self.to, ("table", "json"))
        data = load(sweep_folder(self.folder))
        found = compare(data, self.metric, select=pairs("select", self.select))
        show(self.to == "json", to_records(found), lambda: print_table(render_table(found)))
        return 0
