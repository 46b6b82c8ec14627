"""The comparison of a sweep's cells on one metric, as a table for people or for programs."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr
from rich import box
from rich.table import Table
from rich.text import Text

from aedjax.stats.aggregate import LEFT_OUT, aggregate
from aedjax.stats.cells import KIND
from aedjax.stats.estimate import STATISTICS

UNIT = "seed"
"""The unit of replication of every statistic in aedjax."""


class Comparison(NamedTuple):
    """A metric over the cells of a sweep.

    `cells` is `aggregate`'s table with one more column, `initial`: the mean of the same metric
    over the same cells before training (absent where the metric has no `_initial` companion).
    """

    metric: str
    select: dict[str, str]
    unit: str
    cells: pd.DataFrame


def compare(
    data: xr.Dataset,
    metric: str,
    by: Sequence[str] | None = None,
    select: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare tasks, architectures and settings on a metric, with intervals over seeds.

    Args and errors are those of `aggregate`.
    """
    table = aggregate(data, metric, by, select)
    untrained = f"{metric}_initial"
    if untrained in data:
        table["initial"] = aggregate(data, untrained, by, select)["mean"]
    labels = {name: str(label) for name, label in (select or {}).items()}
    return Comparison(metric, labels, UNIT, table)


def render_table(comparison: Comparison) -> Table:
    """The comparison for a terminal of 80 columns or more: estimates over intervals, n, its unit,
    and how many runs were left out."""
    cells = comparison.cells
    labels = ", ".join(f"{name}={label}" for name, label in comparison.select.items())
    table = Table(
        title=Text(comparison.metric + (f" ({labels})" if labels else "")),
        caption=Text(_footnote(comparison)),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("cell", overflow="fold")
    for heading in ("n", "mean", "median", "IQM", "initial"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in cells.to_dict("records"):
        n, runs = row["n"], row["n"] + sum(row[name] for name in LEFT_OUT)
        counted = Text(f"{n} of {runs}")
        found = [Text(_with_interval(row, name)) for name in STATISTICS]
        untrained = Text(_number(row.get("initial", math.nan)))
        table.add_row(Text(_cell(row)), counted, *found, untrained)
    return table


def to_records(comparison: Comparison) -> list[dict[str, Any]]:
    """The comparison as JSON-able records, one a cell; what is not a number is None."""
    head = {"metric": comparison.metric, "select": comparison.select, "unit": comparison.unit}
    rows = comparison.cells.to_dict("records")
    return [{**head, **{str(name): _plain(value) for name, value in row.items()}} for row in rows]


def _footnote(comparison: Comparison) -> str:
    cells = comparison.cells
    methods = [method for method in cells["interval_method"].unique() if method != "none"]
    how = f"95% {' or '.join(methods)} bootstrap over seeds" if methods else "none for one seed"
    lines = [
        f"n: {comparison.unit}s (the unit of replication) of runs",
        f"intervals: {how}",
        "left out: " + ", ".join(f"{cells[name].sum()} {name}" for name in LEFT_OUT),
        "initial: mean before training",
    ]
    return "\n".join(lines)


def _cell(row: Mapping[str, Any]) -> str:
    """Task and architecture on one line, the other settings below."""
    names = list(itertools.takewhile(lambda name: name != "n", row))
    kind = [str(row[name]) for name in names if name in KIND]
    rest = [f"{name}={_setting(row[name])}" for name in names if name not in KIND]
    return "\n".join((*([" · ".join(kind)] if kind else []), *rest)) or "all runs"


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    value = _number(row[name])
    return value if math.isnan(low) else f"{value}\n{_number(low)}, {_number(high)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if value == 0 or 0.1 <= abs(value) < 100 else f"{value:.3g}"


def _setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
