"""Temporal parts of encoder and decoder in the plane of their two principal components."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from aedjax.figures.example import Example, often_reached
from aedjax.figures.style import (
    SEQUENTIAL,
    Drawing,
    empty_figure,
    empty_panel,
    panel_grid,
    position_ticks,
    styled,
)

MARKERS = {"encoder": "o", "decoder": "^"}


class Plane(NamedTuple):
    """Points in the plane of the first two principal components, and the share of the variance
    that each of the two explains."""

    points: Float[np.ndarray, "M 2"]
    explained: Float[np.ndarray, " 2"]


def principal_plane(points: Float[np.ndarray, "M H"]) -> Plane | None:
    """The first two principal components of points, by singular values of the centred points.

    The largest loading of each component is positive. None where the points do not vary or are
    not finite.
    """
    points = np.asarray(points, float)
    centred = points - points.mean(axis=0)[None, :]
    if not np.isfinite(centred).all() or not centred.any():
        return None
    left, singular, right = np.linalg.svd(centred, full_matrices=False)
    largest = np.argmax(np.abs(right), axis=1)
    sign = np.sign(np.take_along_axis(right, largest[:, None], axis=1))[:, 0]
    scores = left * (singular * sign)[None, :]
    missing = max(0, 2 - len(singular))
    explained = np.pad(singular**2 / np.sum(singular**2), (0, missing))[:2]
    return Plane(np.pad(scores, ((0, 0), (0, missing)))[:, :2], explained)


@styled
def temporal_components(examples: Sequence[Example]) -> Drawing:
    """One panel an example: temporal parts μ^E_t and μ^D_s in one plane, coloured by position,
    at positions that at least half of the samples reach."""
    if not examples:
        return empty_figure("no run has finished")
    last = _last_position(examples)
    shades = ScalarMappable(Normalize(1, last), SEQUENTIAL)
    rows, columns = panel_grid(len(examples), 3)
    figure = Figure(figsize=(2.5 * columns + 1.0, 2.2 * rows + 0.5), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, example in zip(panels, examples, strict=False):
        axes.set_title(f"{example.task}\n{textwrap.fill(example.label, 34)}")
        _draw_panel(axes, example, shades)
    for axes in panels[len(examples) :]:
        axes.remove()
    used = list(panels[: len(examples)])
    figure.colorbar(shades, ax=used, label="position", ticks=position_ticks(last), aspect=25)
    figure.legend(handles=_handles(), loc="outside lower center", ncols=2)
    counts = sorted({int(example.encoder_count.max(initial=0)) for example in examples})
    return Drawing(
        figure,
        "Temporal parts of the encoder and decoder states in the plane of their first two joint "
        "principal components (share of the variance explained on the axes), coloured by position; "
        f"means over {' or '.join(map(str, counts))} test samples, at positions that at least half "
        "of them reach. Each panel is one run, one seed; no interval.",
    )


def _last_position(examples: Sequence[Example]) -> int:
    counts = [count for e in examples for count in (e.encoder_count, e.decoder_count)]
    return max(2, *(often_reached(count) for count in counts))


def _draw_panel(axes: Axes, example: Example, shades: ScalarMappable) -> None:
    encoder = example.encoder_temporal[: often_reached(example.encoder_count)]
    decoder = example.decoder_temporal[: often_reached(example.decoder_count)]
    plane = principal_plane(np.concatenate([encoder, decoder]))
    if plane is None:
        finite = np.isfinite(encoder).all() and np.isfinite(decoder).all()
        why = "temporal parts do not vary" if finite else "states are not finite: the run diverged"
        empty_panel(axes, why)
        return
    sides = np.split(plane.points, [len(encoder)])
    for points, marker in zip(sides, MARKERS.values(), strict=True):
        axes.plot(*points.T, color="0.75", linewidth=0.7, zorder=1)
        colours = shades.to_rgba(np.arange(1, len(points) + 1))
        first, second = points.T
        axes.scatter(first, second, c=colours, marker=marker, s=18, linewidths=0, zorder=2)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)
    for axis, share, name in zip((axes.xaxis, axes.yaxis), plane.explained, "12", strict=True):
        axis.set_major_locator(MaxNLocator(4))
        axis.set_label_text(f"PC {name} ({share:.0%})")


def _handles() -> list[Line2D]:
    look: dict[str, Any] = {"color": "0.4", "linestyle": "none", "markersize": 4}
    return [Line2D([], [], marker=marker, label=side, **look) for side, marker in MARKERS.items()]
