"""Learning curves: accuracy over training, with a band over seeds."""

import math
import textwrap
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from aedjax.figures.style import COLOURS, Drawing, empty_figure, empty_panel, panel_grid, styled
from aedjax.stats.cells import KIND, Cell, cells
from aedjax.stats.estimate import mean_band

LINES = ("-", "--", ":", "-.")
"""Lines of the settings of one architecture, in turn."""
NAMED = 8
"""The most lines that have bands and names; more are thin lines in their architecture's colour."""
LABEL_CHARACTERS = 38


class Curve(NamedTuple):
    """The accuracies of a cell's n seeds at the steps at which all of them were analysed."""

    task: str
    architecture: str
    setting: str
    steps: Int[np.ndarray, " M"]
    values: Float[np.ndarray, "n M"]

    @property
    def label(self) -> str:
        """Architecture and the settings that vary."""
        return ", ".join(filter(None, (self.architecture, self.setting)))


@styled
def learning_curves(data: xr.Dataset) -> Drawing:
    """One panel a task: token accuracy over training steps from the untrained network on; one
    line a cell, the mean over seeds, with the 95% bootstrap interval of the mean as a band."""
    if "token_accuracy_curve" not in data:
        return empty_figure("no run has finished")
    curves = [_curve(data, cell) for cell in cells(data)]
    looks = _looks(curves)
    tasks = list(dict.fromkeys(curve.task for curve in curves))
    handles = _handles(curves, looks)
    rows, columns = panel_grid(len(tasks), 3)
    width = 2.3 * columns + 0.5
    longest = max(len(line) for handle in handles for line in str(handle.get_label()).split("\n"))
    beside = max(1, int(width / (0.065 * longest + 0.45)))
    lines = sum(str(handle.get_label()).count("\n") + 1 for handle in handles)
    height = 2.0 * rows + 0.5 + 0.14 * math.ceil(lines / beside)
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes, task in zip(panels, tasks, strict=False):
        axes.set_title(task)
        _draw_panel(axes, [curve for curve in curves if curve.task == task], looks)
    for axes in panels[len(tasks) :]:
        axes.remove()
    for place in range(0, len(tasks), columns):
        panels[place].set_ylabel("token accuracy")
    figure.legend(handles=handles, loc="outside lower center", ncols=beside)
    return Drawing(figure, _caption(data, curves, named=len(looks) <= NAMED))


def _curve(data: xr.Dataset, cell: Cell) -> Curve:
    finished = cell.runs[data["status"].values.astype(str)[cell.runs] == "ok"]
    values = data["token_accuracy_curve"].transpose("run", "step").values[finished].astype(float)
    # A step that some seeds lack would move the mean by changing the seeds.
    shared = np.isfinite(values).all(axis=0) & bool(len(finished))
    rest = {name: value for name, value in cell.settings.items() if name not in KIND}
    setting = ", ".join(f"{name}={_text(value)}" for name, value in rest.items() if value == value)
    task, architecture = (str(cell.settings[name]) for name in KIND)
    return Curve(task, architecture, setting, data["step"].values[shared], values[:, shared])


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _looks(curves: list[Curve]) -> dict[str, dict[str, Any]]:
    """A colour for each architecture, a line for each of its settings, by label."""
    settings: dict[str, list[str]] = {}
    for curve in curves:
        here = settings.setdefault(curve.architecture, [])
        if curve.setting not in here:
            here.append(curve.setting)
    colours = dict(zip(settings, COLOURS * len(settings), strict=False))
    return {
        curve.label: {
            "color": colours[curve.architecture],
            "linestyle": LINES[settings[curve.architecture].index(curve.setting) % len(LINES)],
        }
        for curve in curves
    }


def _draw_panel(axes: Axes, curves: list[Curve], looks: dict[str, dict[str, Any]]) -> None:
    named = len(looks) <= NAMED
    axes.set(xlabel="training step", ylim=(0, 1.03))
    axes.spines[["top", "right"]].set_visible(False)
    if not any(curve.values.size for curve in curves):
        empty_panel(axes, "no run with status ok")
        return
    for curve in curves:
        if not curve.values.size:
            continue
        look = looks[curve.label] if named else {"color": looks[curve.label]["color"]}
        marker = "o" if len(curve.steps) <= 12 and named else ""
        axes.plot(
            curve.steps,
            curve.values.mean(axis=0),
            **look,
            marker=marker,
            markersize=2.5,
            linewidth=1.3 if named else 0.5,
        )
        if named and len(curve.values) > 1:
            low, high = mean_band(curve.values)
            axes.fill_between(curve.steps, low, high, color=look["color"], alpha=0.2, linewidth=0)
    last = max(1, *(int(curve.steps.max(initial=0)) for curve in curves))
    axes.set_xlim(-0.04 * last, 1.04 * last)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _handles(curves: list[Curve], looks: dict[str, dict[str, Any]]) -> list[Line2D]:
    if len(looks) > NAMED:
        looks = {curve.architecture: {"color": looks[curve.label]["color"]} for curve in curves}
    return [
        Line2D([], [], label=textwrap.fill(label, LABEL_CHARACTERS), **look)
        for label, look in looks.items()
    ]


def _caption(data: xr.Dataset, curves: list[Curve], named: bool) -> str:
    counts = sorted({len(curve.values) for curve in curves})
    n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    lost = int((data["status"].values.astype(str) != "ok").sum())
    bands = "bands: 95% percentile bootstrap interval of the mean over seeds" + (
        "" if counts[0] > 1 else " (none for fewer than 2 seeds)"
    )
    return (
        "Token accuracy on the test set over training, from the untrained network (step 0) on. "
        f"Lines: mean over n = {n} seeds of each setting; {bands if named else 'no interval'}. "
        f"{lost} of {data.sizes['run']} runs left out (diverged, failed or pending)."
    )
