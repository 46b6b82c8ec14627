"""`aedjax list`: the tables that a spec's names come from."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from aedjax.commands.options import show
from aedjax.errors import unknown

WHAT = ("tasks", "models", "metrics")


@dataclass(frozen=True)
class List:
    """List the tasks, models or metrics there are.

    Examples:
        aedjax list tasks
    """

    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="tasks|models|metrics")]
    """What to list."""
    json: bool = False
    """Print as JSON."""

    def run(self) -> int:
        """Print the table."""
        from aedjax.analysis.metrics import METRICS
        from aedjax.models import MODELS
        from aedjax.tasks import TASKS

        tables: dict[str, dict[str, Any]] = dict(zip(WHAT, (TASKS, MODELS, METRICS), strict=True))
        if self.what not in tables:
            raise unknown("list", self.what, tables)
        summaries = {name: entry.summary for name, entry in tables[self.what].items()}

        def table() -> None:
            width = max(map(len, summaries))
            for name, summary in summaries.items():
                print(f"{name:{width}s}  {summary}")

        show(self.json, summaries, table)
        return 0
