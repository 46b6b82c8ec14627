"""Cells of a sweep: the runs that differ in nothing but the seed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from aedjax.errors import InputError, unknown

IDENTITIES = ("run", "member", "seed", "status")
"""Coordinates that tell the runs of one cell apart, and so never make a cell."""

KIND = ("task", "architecture")
"""Coordinates that always make a cell, whether they vary or not."""


class Cell(NamedTuple):
    """`settings`: what its runs share, by coordinate; `runs`: where they are along `run`."""

    settings: dict[str, Any]
    runs: np.ndarray


def cells(data: xr.Dataset, by: Sequence[str] | None = None) -> list[Cell]:
    """The cells of a sweep, in the order of their first runs.

    A cell holds every seed once: the seed is the unit of replication, and two settings of one
    seed are not two replicates.

    Args:
        data: a loaded sweep.
        by: the coordinates that make a cell; `varying(data)` unless given.

    Raises:
        InputError: if `by` names no coordinate of the runs, or a cell would hold a seed twice.
    """
    frame = settings(data)
    names = list(_varying(frame) if by is None else by)
    for name in names:
        if name not in frame or name in IDENTITIES:
            raise unknown("by", name, [known for known in frame if known not in IDENTITIES])
    groups = (
        frame.groupby(names, sort=False, dropna=False).ngroup().to_numpy()
        if names
        else np.zeros(len(frame), int)
    )
    found = []
    for group in range(groups.max(initial=-1) + 1):
        runs = np.flatnonzero(groups == group)
        shared = frame[names].iloc[runs[0]].to_dict()
        _check_seeds(frame.iloc[runs], shared)
        found.append(Cell(shared, runs))
    return found


def varying(data: xr.Dataset) -> tuple[str, ...]:
    """Task, architecture, and the other coordinates in which runs differ.

    A setting that a run does not use ("" or NaN) differs from a used one only among runs of the
    same task and architecture: that VED has no kind of attention does not make attention vary.
    """
    return _varying(settings(data))


def settings(data: xr.Dataset) -> pd.DataFrame:
    """The coordinates of the runs, one row a run: run, task and architecture, the others by name.

    The order is fixed here because a dataset read from disk has none of its own.
    """
    found = [str(name) for name, value in data.coords.items() if value.dims == ("run",)]
    first = [name for name in ("run", *KIND) if name in found]
    names = [*first, *sorted(set(found) - set(first))]
    return pd.DataFrame({name: data[name].values for name in names})


def _varying(frame: pd.DataFrame) -> tuple[str, ...]:
    others = [name for name in frame if name not in (*IDENTITIES, *KIND)]
    return (*KIND, *(name for name in others if _varies(frame, name)))


def _varies(frame: pd.DataFrame, name: str) -> bool:
    used = frame[name].mask(frame[name] == "")
    if used.nunique() > 1:
        return True
    within = used.groupby([frame[key] for key in KIND])
    return bool((within.nunique(dropna=False) > 1).any())


def _check_seeds(runs: pd.DataFrame, shared: dict[str, Any]) -> None:
    twice = runs["seed"][runs["seed"].duplicated()]
    if twice.empty:
        return
    seed = twice.iloc[0]
    same = runs[runs["seed"] == seed]
    differ = [name for name in _varying(same) if same[name].nunique(dropna=False) > 1]
    where = ", ".join(f"{name}={value}" for name, value in shared.items()) or "of all runs"
    remedy = (
        f"add what differs there ({', '.join(differ)})"
        if differ
        else "keep one of the runs " + " and ".join(str(run) for run in same["run"])
    )
    raise InputError(
        f"by = {list(shared)} counts seed {seed} {len(same)} times in the cell {where}; {remedy}"
    )
