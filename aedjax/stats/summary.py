"""The table at the end of a sweep: its cells on a few metrics, beside the untrained networks."""

import math
from collections.abc import Mapping
from typing import Any

import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from aedjax.stats.aggregate import LOST, aggregate
from aedjax.stats.cells import varying

TEMPORAL = {"decoder_part": "temporal", "encoder_part": "temporal", "kind": "centred"}

HEADLINES: dict[str, tuple[str, Mapping[str, str]]] = {
    "token accuracy": ("token_accuracy", {}),
    "sequence accuracy": ("sequence_accuracy", {}),
    "diagonal mass": ("diagonal_mass", {}),
    "temporal-temporal share": ("share", TEMPORAL),
    "mean attention KL": ("mean_attention_kl", {}),
}
"""The columns: a title, the metric, and the place in it."""


def summary(data: xr.Dataset) -> list[dict[str, Any]]:
    """One record a cell: its settings, n, what was lost, and each headline metric's mean over
    seeds, trained and untrained (None where the metric does not apply).

    Shares are centred, from the last split method and fit that were measured: joint and
    cross-fitted by default.
    """
    names = varying(data)
    records: list[dict[str, Any]] = []
    for title, (metric, select) in HEADLINES.items():
        trained, untrained = (_means(data, name, select) for name in (metric, f"{metric}_initial"))
        for place, row in enumerate(trained):
            if len(records) <= place:
                counts = {name: int(row[name]) for name in LOST}
                records.append({**{name: row[name] for name in names}, "n": row["n"], **counts})
            records[place][title] = {
                "trained": row["mean"],
                "untrained": untrained[place]["mean"] if untrained else None,
            }
    return records


def _means(data: xr.Dataset, metric: str, select: Mapping[str, str]) -> list[dict[str, Any]]:
    if metric not in data:
        return []
    last: dict[str, str] = {
        dimension: str(data[dimension].values[-1])
        for dimension in ("method", "fit")
        if dimension in data[metric].dims
    }
    rows = aggregate(data, metric, select=last | dict(select)).to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def render_summary(records: list[dict[str, Any]]) -> Table:
    """The records as a table for a terminal of 80 columns: trained means above untrained ones."""
    titles = [title for title in HEADLINES if any(title in record for record in records)]
    lost = [name for name in LOST if any(record[name] for record in records)]
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        caption=Text("mean over n seeds; in brackets the same networks before training"),
        caption_justify="left",
    )
    table.add_column("runs", no_wrap=True)
    for name in ("n", *lost, *titles):
        table.add_column(Text("\n".join(name.replace("-", "- ").split())), justify="right")
    for record in records:
        counts = [str(record[name]) for name in ("n", *lost)]
        cells = [_cell(record.get(title)) for title in titles]
        table.add_row(*(Text(cell) for cell in (_label(record), *counts, *cells)))
    return table


def _label(record: Mapping[str, Any]) -> str:
    """Architecture and task, and below them what else the sweep varies."""
    known = {"task", "architecture", "n", *LOST, *HEADLINES}
    others = [f"{name} {value}" for name, value in record.items() if name not in known]
    return "\n".join([f"{record['architecture']} on {record['task']}", *others])


def _cell(means: Mapping[str, float | None] | None) -> str:
    if means is None or means["trained"] is None:
        return "-"
    before = means["untrained"]
    return f"{means['trained']:.3f}" + (f"\n({before:.3f})" if before is not None else "")
