"""Figures of a sweep. A new figure is one function and one line in `FIGURES`."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

from aedjax.figures.attention import sample_attention
from aedjax.figures.curves import learning_curves
from aedjax.figures.example import Example
from aedjax.figures.shares import share_heatmap
from aedjax.figures.style import Drawing, style
from aedjax.figures.temporal import temporal_components

__all__ = [
    "FIGURES",
    "Drawing",
    "Example",
    "FigureEntry",
    "draw_all",
    "learning_curves",
    "sample_attention",
    "share_heatmap",
    "temporal_components",
]


class FigureEntry(NamedTuple):
    """How to draw a figure, and from what: the sweep's `runs`, or `examples` of single runs."""

    function: Callable[[Any], Drawing]
    needs: Literal["runs", "examples"]
    summary: str


FIGURES: dict[str, FigureEntry] = {
    "learning_curves": FigureEntry(
        learning_curves, "runs", "token accuracy over training, with bands over seeds"
    ),
    "share_heatmap": FigureEntry(
        share_heatmap, "runs", "shares of the nine terms of the attention score"
    ),
    "sample_attention": FigureEntry(
        sample_attention, "examples", "attention of a sample with its words, and the mean"
    ),
    "temporal_components": FigureEntry(
        temporal_components, "examples", "temporal parts in their principal plane"
    ),
}


def draw_all(data: xr.Dataset, examples: Sequence[Example], out: Path) -> list[Path]:
    """Draw every figure into a folder: `<name>.png`, `<name>.svg`, and `captions.json`.

    The same data give the same files.

    Args:
        data: a loaded sweep.
        examples: the runs that figures of single networks show.
        out: the folder; it is made if need be.

    Returns:
        the paths, in the order of `FIGURES`, the captions last.

    Raises:
        OSError: if the folder cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    sources = {"runs": data, "examples": examples}
    paths, captions = [], {}
    for name, entry in FIGURES.items():
        figure, captions[name] = entry.function(sources[entry.needs])
        paths += [out / f"{name}.png", out / f"{name}.svg"]
        with style():
            FigureCanvasAgg(figure)
            figure.savefig(paths[-2])
            figure.savefig(paths[-1], metadata={"Date": None})
    paths.append(out / "captions.json")
    paths[-1].write_text(json.dumps(captions, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return paths
