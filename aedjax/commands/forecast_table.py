"""What `aedjax plan` shows: a table for people, the same as JSON for programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from aedjax.commands.options import print_table
from aedjax.sweep.forecast import Forecast, free_disk
from aedjax.sweep.memory import format_bytes
from aedjax.sweep.plan import Layout
from aedjax.sweep.spec import Spec
from aedjax.sweep.status import label


def content(spec: Spec, layout: Layout, found: Sequence[Forecast]) -> dict[str, Any]:
    """A forecast as JSON-able data; times in seconds, sizes in bytes."""
    return {
        "name": spec.name,
        "runs": len(spec.members),
        "devices": f"{layout.devices} x {layout.device_kind}",
        "groups": [
            {
                "group": label(one.member),
                "members": one.members,
                "units": one.units,
                "width": one.width,
                "device_bytes": one.bytes,
                "device_bytes_available": one.available,
                "compile_seconds": round(one.compile_seconds, 2),
                "run_seconds": None if one.run_seconds is None else round(one.run_seconds, 1),
                "disk_bytes": one.disk,
            }
            for one in found
        ],
    }


def print_forecast(layout: Layout, found: Sequence[Forecast]) -> None:
    """Print a forecast as a table with its sums."""
    grid = Table(box=None, header_style="bold", pad_edge=False)
    grid.add_column("group")
    for name in ("runs", "units", "width", "memory", "compile", "run", "disk"):
        grid.add_column(name, justify="right")
    for one in found:
        grid.add_row(
            label(one.member),
            str(one.members),
            str(one.units),
            "too wide" if one.width is None else str(one.width),
            format_bytes(one.bytes),
            duration(one.compile_seconds),
            duration(one.run_seconds),
            format_bytes(one.disk),
        )
    runs = [one.run_seconds for one in found if one.run_seconds is not None]
    grid.add_row(
        "all",
        str(sum(one.members for one in found)),
        str(sum(one.units for one in found)),
        "",
        format_bytes(max(one.bytes for one in found)),
        duration(sum(one.compile_seconds for one in found)),
        duration(sum(runs) if len(runs) == len(found) else None),
        format_bytes(sum(one.disk for one in found)),
        style="bold",
    )
    print_table(grid)
    print(
        f"devices: {layout.devices} x {layout.device_kind}, "
        f"{format_bytes(found[0].available)} each; free disk here: "
        f"{format_bytes(free_disk(Path()))}"
    )
    if not runs:
        print("run: measured with --measure")


def duration(seconds: float | None) -> str:
    """A time for people; "-" if it is not known."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 60), ("min", 60), ("h", 24)):
        if seconds < 2 * size:
            return f"{seconds:.3g} {unit}"
        seconds /= size
    return f"{seconds:.3g} d"
