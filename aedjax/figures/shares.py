"""Shares of the nine terms of the score, a three by three heat map for each architecture."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from aedjax.figures.style import SEQUENTIAL, Drawing, empty_figure, empty_panel, styled
from aedjax.stats.cells import KIND, settings, varying
from aedjax.types import PARTS

PREFERRED = {"method": "joint", "fit": "cross"}
"""Where a sweep has them: without bias, and fitted on other samples than measured."""


class Shares(NamedTuple):
    """Centred shares [decoder part, encoder part] of one task and architecture, as means over n
    seeds: trained, and before training."""

    trained: Float[np.ndarray, "3 3"]
    initial: Float[np.ndarray, "3 3"]
    n: int


@styled
def share_heatmap(data: xr.Dataset) -> Drawing:
    """One panel a task and architecture: centred shares of the nine terms, by the joint fit across
    samples where the sweep has it; below each, the untrained network's in parentheses."""
    if "share" not in data:
        return empty_figure("no run has attention")
    chosen = {name: _preferred(data, name) for name in PREFERRED}
    place = {**chosen, "kind": "centred"}
    order = ("run", "decoder_part", "encoder_part")
    trained = data["share"].sel(place).transpose(*order).values
    initial = data["share_initial"].sel(place).transpose(*order).values
    panels = _by_kind(data, trained, initial)
    found = [shares.trained for shares in panels.values() if shares.n]
    shades = ScalarMappable(Normalize(0, np.max(found) if found else 1), SEQUENTIAL)
    tasks, architectures = (list(dict.fromkeys(names)) for names in zip(*panels, strict=True))
    rows, columns = len(tasks), len(architectures)
    figure = Figure(figsize=(1.6 * columns + 1.2, 1.75 * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for (row, column), axes in np.ndenumerate(grid):
        kind = tasks[row], architectures[column]
        if kind in panels:
            _draw_panel(axes, kind, panels[kind], shades, _why_empty(data, *kind))
        else:
            axes.set_axis_off()
    if found:
        figure.colorbar(shades, ax=grid, label="centred share", aspect=25, pad=0.02)
        figure.supxlabel("encoder part", fontsize=8)
        figure.supylabel("decoder part", fontsize=8)
    by_panel = settings(data).groupby(list(KIND))
    averaged = [
        name
        for name in varying(data)
        if name not in KIND and (by_panel[name].nunique(dropna=False) > 1).any()
    ]
    within = f", after averaging over {', '.join(averaged)} within each seed" if averaged else ""
    lost = int((data["status"].values.astype(str) != "ok").sum())
    caption = (
        "Centred shares of the nine terms of the attention score (method {method}, fit {fit}): "
        "means over n seeds{within}, the untrained networks' in parentheses; no interval. "
        "{lost} of {runs} runs left out (diverged, failed or pending)."
    )
    numbers = {"within": within, "lost": lost, "runs": data.sizes["run"]}
    return Drawing(figure, caption.format(**chosen, **numbers))


def _preferred(data: xr.Dataset, dimension: str) -> str:
    labels = [str(label) for label in data[dimension].values]
    return PREFERRED[dimension] if PREFERRED[dimension] in labels else labels[0]


def _by_kind(
    data: xr.Dataset,
    trained: Float[np.ndarray, "R 3 3"],
    initial: Float[np.ndarray, "R 3 3"],
) -> dict[tuple[str, str], Shares]:
    """Task and architecture to their mean shares. A seed counts once: the runs of one seed that
    differ in other settings are averaged first."""
    frame = settings(data)
    use = (frame["status"].to_numpy() == "ok") & np.isfinite(trained).all(axis=(1, 2))
    panels = {}
    for (task, architecture), rows in frame.groupby(list(KIND), sort=False):
        places = rows.index.to_numpy()
        places = places[use[places]]
        seeds = frame["seed"].to_numpy()[places]
        one_a_seed = [places[seeds == seed] for seed in np.unique(seeds)]
        panels[str(task), str(architecture)] = Shares(
            _mean(trained, one_a_seed), _mean(initial, one_a_seed), len(one_a_seed)
        )
    return panels


def _mean(values: Float[np.ndarray, "R 3 3"], groups: list[np.ndarray]) -> np.ndarray:
    if not groups:
        return np.full((3, 3), np.nan)
    return np.mean([values[runs].mean(axis=0) for runs in groups], axis=0)


def _why_empty(data: xr.Dataset, task: str, architecture: str) -> str:
    here = (data["task"].values == task) & (data["architecture"].values == architecture)
    here &= data["status"].values.astype(str) == "ok"
    if not here.any():
        return "no run with status ok"
    attends = np.isfinite(data["mean_attention_kl"].values[here]).any()
    return "shares are undefined" if attends else f"{architecture.upper()} has no attention"


def _draw_panel(
    axes: Axes, kind: tuple[str, str], shares: Shares, shades: ScalarMappable, why_empty: str
) -> None:
    axes.set_title(f"{kind[0]}\n{kind[1]}, n = {shares.n}")
    axes.set_box_aspect(1)
    if not shares.n:
        empty_panel(axes, why_empty)
        return
    axes.imshow(shades.to_rgba(shares.trained))
    axes.set_xticks(range(3), PARTS)
    axes.set_yticks(range(3), PARTS, rotation=90, va="center")
    axes.tick_params(length=0)
    for row, column in np.ndindex(3, 3):
        share = shares.trained[row, column]
        red, green, blue, _ = shades.to_rgba(share)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text: dict[str, Any] = {"ha": "center", "color": "white" if dark else "black"}
        axes.text(column, row - 0.02, f"{share:.2f}", va="bottom", fontsize=8, **text)
        initial = f"({shares.initial[row, column]:.2f})"
        axes.text(column, row + 0.08, initial, va="top", fontsize=6, **text)
