"""Aggregation over seeds: each cell of a sweep as one row of numbers with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from aedjax.stats.cells import cells, varying
from aedjax.stats.estimate import STATISTICS, estimates
from aedjax.stats.place import values_at

LOST = ("diverged", "failed", "pending")
"""Statuses of runs that are counted and left out of the estimates."""

LEFT_OUT = (*LOST, "undefined")
"""The columns that count what is left out: `undefined` counts finished runs without a value."""


def aggregate(
    data: xr.Dataset,
    metric: str,
    by: Sequence[str] | None = None,
    select: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """A metric over the seeds of each cell, with 95% bootstrap intervals.

    The unit of replication is the seed: a cell holds each seed once, and samples, steps and
    hyperparameters never count as replicates.

    Args:
        data: a loaded sweep.
        metric: the name of a metric; `<metric>_initial` is the untrained network's.
        by: the coordinates that make a cell; unless given task, architecture and every other
            one that varies over runs.
        select: the label of each further dimension of the metric, as `{"kind": "centred"}`.

    Returns:
        one row a cell, in the order of the runs. Columns:
        the coordinates of the cell;
        `n`, the seeds in the estimates;
        `diverged`, `failed`, `pending`, the runs left out by status;
        `undefined`, the finished runs left out because the metric has no finite value for them;
        `mean`, `median`, `iqm`, the estimates in the metric's unit (NaN for n = 0);
        `mean_low`, `mean_high`, ..., the ends of their intervals (NaN for n < 2);
        `interval_method`, "BCa", "percentile" or "none" (see `estimates`).

    Raises:
        InputError: see `values_at` and `cells`.
    """
    values = values_at(data, metric, select).values.astype(float)
    status = data["status"].values.astype(str)
    names = list(varying(data) if by is None else by)
    rows = []
    for cell in cells(data, names):
        finished = status[cell.runs] == "ok"
        found = values[cell.runs][finished]
        defined = np.isfinite(found)
        numbers, method = estimates(found[defined])
        row: dict[str, Any] = {**cell.settings, "n": int(defined.sum())}
        row |= {lost: int((status[cell.runs] == lost).sum()) for lost in LOST}
        row["undefined"] = int((~defined).sum())
        for name, estimate in numbers.items():
            row |= {
                name: estimate.value,
                f"{name}_low": estimate.low,
                f"{name}_high": estimate.high,
            }
        rows.append({**row, "interval_method": method})
    ends = [f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high")]
    columns = [*names, "n", *LEFT_OUT, *ends, "interval_method"]
    return pd.DataFrame(rows, columns=pd.Index(columns))
