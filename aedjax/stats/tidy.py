"""A sweep as a flat table for any data-frame tool."""

import itertools
from collections.abc import Hashable

import numpy as np
import pandas as pd
import xarray as xr

from aedjax.stats.cells import settings


def tidy(data: xr.Dataset) -> pd.DataFrame:
    """One row a run: its coordinates, then every metric by name, of the trained network and
    (`<metric>_initial`) of the untrained one.

    A metric with further dimensions becomes one column for each combination of labels, named by
    the metric and the labels in the order of the variable's own dimensions, joined by dots:
    `share` over (run, method, fit, decoder_part, encoder_part, kind) gives
    `share.joint.cross.temporal.temporal.centred` and its like. Curves are left out: a variable
    with a `step` dimension has no single value a run.

    Args:
        data: a loaded sweep.

    Returns:
        runs in the order of the sweep; NaN where a metric does not apply.
    """
    columns: dict[str, np.ndarray] = {}
    for name in sorted(str(name) for name in data.data_vars):
        if "run" in data[name].dims and "step" not in data[name].dims:
            columns |= _flattened(name, data[name])
    runs = settings(data)
    return pd.concat([runs, pd.DataFrame(columns, index=runs.index)], axis=1)


def _flattened(name: str, variable: xr.DataArray) -> dict[str, np.ndarray]:
    further: list[Hashable] = [dimension for dimension in variable.dims if dimension != "run"]
    values = variable.transpose("run", *further).values.reshape(variable.sizes["run"], -1)
    labels = [[str(label) for label in variable[dimension].values] for dimension in further]
    names = [".".join((name, *place)) for place in itertools.product(*labels)]
    return dict(zip(names, values.T, strict=True))
