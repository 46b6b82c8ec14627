"""One number a run: a metric, or one place in a metric with more dimensions."""

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from aedjax.errors import InputError, unknown

SHOWN = 12
"""How many labels of a dimension an error lists."""


def metric_names(data: xr.Dataset) -> list[str]:
    """The metrics of the trained networks, without their `_initial` and `_curve` companions."""
    names = [str(name) for name, variable in data.data_vars.items() if "run" in variable.dims]
    return [name for name in names if not name.endswith(("_initial", "_curve"))]


def values_at(
    data: xr.Dataset, metric: str, select: Mapping[str, Any] | None = None
) -> xr.DataArray:
    """The metric's value of each run, at one label of each of its other dimensions.

    Args:
        data: a loaded sweep.
        metric: the name of a variable over `run`, `<metric>_initial` and `<metric>_curve` too.
        select: the label of each dimension; one with a single label needs none. Labels are
            compared as text, so that `{"step": "500"}` from a command line is step 500.

    Returns:
        an array with the dimension `run` alone.

    Raises:
        InputError: for an unknown metric, dimension or label, and for a dimension without a label.
    """
    if not metric_names(data):
        raise InputError(f"metric = {metric!r} has no value yet: no run has finished; wait for one")
    if metric not in data.data_vars or "run" not in data[metric].dims:
        raise unknown("metric", metric, metric_names(data))
    values = data[metric]
    select = dict(select or {})
    dimensions = [str(name) for name in values.dims if name != "run"]
    for dimension, label in select.items():
        if not dimensions:
            raise InputError(
                f"select = {dimension!r} is not a dimension of metric {metric!r}, "
                "which has one value a run; leave it out"
            )
        if dimension not in dimensions:
            raise unknown(f"select for {metric}", dimension, dimensions)
        labels = [str(known) for known in values[dimension].values]
        if str(label) not in labels:
            raise unknown(f"select.{dimension}", label, labels)
        values = values.isel({dimension: labels.index(str(label))})
    open_ = [name for name in dimensions if name not in select and values.sizes[name] != 1]
    if open_:
        first = f"{open_[0]}={values[open_[0]].values[0]}"
        choices = "; ".join(f"{name} ({_listed(values[name].values)})" for name in open_)
        raise InputError(
            f"metric = {metric!r} has dimensions without a label: {choices}. "
            f"Select one of each, as {first}"
        )
    return values.isel({str(name): 0 for name in values.dims if name != "run"})


def _listed(labels: Iterable[Any]) -> str:
    texts = [str(label) for label in labels]
    return ", ".join(texts[:SHOWN]) + (", ..." if len(texts) > SHOWN else "")
