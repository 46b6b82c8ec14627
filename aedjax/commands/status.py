"""`aedjax status`: how far a sweep is."""

import time
from dataclasses import dataclass

from aedjax.commands.options import Folder, print_table, show

REFRESH_SECONDS = 2.0


@dataclass(frozen=True)
class Status:
    """Show the status of every member of a sweep, by group, and who works on what.

    Examples:
        aedjax status runs/quickstart
        aedjax status runs/quickstart --live
        aedjax status runs/quickstart --json
    """

    folder: Folder
    """Folder of a sweep."""
    live: bool = False
    """Show it anew every two seconds until the sweep is over or Ctrl-C."""
    json: bool = False
    """Print as JSON: counts, and a line for every unit."""

    def run(self) -> int:
        """Show the status."""
        from rich.console import Group
        from rich.live import Live

        from aedjax.commands.status_table import content, table
        from aedjax.sweep.paths import sweep_folder
        from aedjax.sweep.record import read_record
        from aedjax.sweep.status import counts, sweep_status

        folder = sweep_folder(self.folder)

        def look():
            record = read_record(folder)
            return record, sweep_status(folder, record)

        record, statuses = look()
        if not self.live:
            show(
                self.json,
                content(record, statuses),
                lambda: print_table(*table(record, statuses)),
            )
            return 0
        with Live(auto_refresh=False) as screen:
            while True:
                grid, lines = table(record, statuses)
                screen.update(Group(grid, *lines), refresh=True)
                left = counts(statuses)
                if not left["running"] + left["pending"]:
                    return 0
                time.sleep(REFRESH_SECONDS)
                record, statuses = look()
