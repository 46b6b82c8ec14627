"""The metrics of many units in one array a metric: in time and memory linear in the runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from aedjax.analysis.metrics import COORDINATES, dimensions_of
from aedjax.sweep.engine import UnitResult
from aedjax.sweep.sections import AnalysisConfig


class Table:
    """Metrics of `runs` runs, unit by unit; NaN where a run has no such metric, method, fit or
    step."""

    def __init__(self, runs: int):
        self.runs = runs
        self.steps: list[int] = []
        self.curves: dict[str, np.ndarray] = {}
        self.used: dict[str, set[str]] = {"method": set(), "fit": set()}

    def add(self, places: Sequence[int], result: UnitResult, analysis: AnalysisConfig) -> None:
        """Put the metrics of a unit at the places of its runs."""
        self._reach(result.steps.tolist())
        steps = np.searchsorted(self.steps, result.steps)
        chosen = {"method": analysis.methods, "fit": analysis.fit}
        for name, values in result.metrics.items():
            dimensions = dimensions_of(name)
            if name not in self.curves:
                sizes = [len(COORDINATES[dimension]) for dimension in dimensions]
                shape = (self.runs, len(self.steps), *sizes)
                self.curves[name] = np.full(shape, np.nan, np.float32)
            labels: list[Sequence[int]] = []
            for dimension in dimensions:
                names = chosen.get(dimension, COORDINATES[dimension])
                labels.append([COORDINATES[dimension].index(label) for label in names])
                if dimension in chosen:
                    self.used[dimension].update(names)
            index = np.ix_(*map(np.asarray, (places, steps, *labels)))
            self.curves[name][index] = values

    def _reach(self, steps: list[int]) -> None:
        """Make room for steps of analyses that no unit had before."""
        union = sorted({*self.steps, *steps})
        if union != self.steps:
            old = np.searchsorted(union, self.steps)
            for name, values in self.curves.items():
                shape = (self.runs, len(union), *values.shape[2:])
                self.curves[name] = np.full(shape, np.nan, np.float32)
                self.curves[name][:, old] = values
            self.steps = union

    def dataset(self, last: np.ndarray) -> xr.Dataset:
        """Every metric as it is at the end, as `_initial` and as `_curve`.

        `last` is the step of the last analysis of every run.
        """
        ends = np.minimum(np.searchsorted(self.steps, last), len(self.steps) - 1)
        variables: dict[str, Any] = {}
        labels: dict[str, list[str]] = {}
        for name, curve in self.curves.items():
            dimensions = dimensions_of(name)
            for axis, dimension in enumerate(dimensions, 2):
                known = COORDINATES[dimension]
                kept = [x for x in known if x in self.used.get(dimension, known)]
                labels[dimension] = kept
                curve = curve.take([known.index(label) for label in kept], axis)
            variables[name] = (("run", *dimensions), curve[np.arange(self.runs), ends])
            variables[f"{name}_initial"] = (("run", *dimensions), curve[:, 0])
            variables[f"{name}_curve"] = (("run", "step", *dimensions), curve)
        steps = {"step": self.steps} if self.steps else {}
        return xr.Dataset(variables, {"run": np.arange(self.runs), **steps, **labels})
