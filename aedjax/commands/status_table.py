"""What `aedjax status` shows: a table for people, the same as JSON for programs."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from aedjax.sweep.record import Record
from aedjax.sweep.status import STATES, UnitStatus, counts, label


def content(record: Record, statuses: Sequence[UnitStatus]) -> dict[str, Any]:
    """The status of a sweep as JSON-able data."""
    groups = record.plan.groups
    return {
        "name": record.spec.name,
        "counts": counts(list(statuses)),
        "units": [
            {
                "id": status.unit.id,
                "group": groups[status.unit.group].id,
                "width": status.unit.width,
                "runs": {str(run): state for run, state in status.states.items()},
                "step": status.step,
                "worker": status.worker,
                "detail": status.detail,
            }
            for status in statuses
        ],
    }


def table(record: Record, statuses: Sequence[UnitStatus]) -> tuple[Table, list[Text]]:
    """A table with a line for every group, and lines of what is running, failed or diverged."""
    grid = Table(box=None, header_style="bold", pad_edge=False)
    grid.add_column("group")
    for state in ("runs", *STATES):
        grid.add_column(state, justify="right")
    for index, group in enumerate(record.plan.groups):
        own = counts([status for status in statuses if status.unit.group == index])
        member = record.spec.members[group.members[0]]
        grid.add_row(label(member), str(len(group.members)), *_numbers(own))
    total = counts(list(statuses))
    grid.add_row("all", str(len(record.spec.members)), *_numbers(total), style="bold")
    lines = [Text(f"unit {s.unit.id}: {what}") for s in statuses if (what := _what(s))]
    return grid, lines


def _numbers(found: dict[str, int]) -> list[str]:
    return [str(found[state] or "-") for state in STATES]


def _what(status: UnitStatus) -> str:
    if status.worker:
        return f"{status.worker}, last checkpoint at step {status.step:,}"
    return status.detail
