"""One look for every figure: fonts, colours, empty panels."""

import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec

import matplotlib.style
import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

P = ParamSpec("P")

SETTINGS: dict[str, Any] = {
    "figure.dpi": 160,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    # Words and settings are data: a "$" in them starts no formula.
    "text.parse_math": False,
    # The same figure is the same file.
    "svg.hashsalt": "aedjax",
}

SEQUENTIAL = "viridis"
"""Colour map of quantities with one sign; perceptually even, and legible to the colour-blind."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of categories, told apart by every kind of colour vision (Okabe and Ito 2008)."""

WORD_CHARACTERS = 12
"""Longer words are cut on axes."""


class Drawing(NamedTuple):
    """A figure, and a caption that says what data it shows, n, and the kind of interval."""

    figure: Figure
    caption: str


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in this look, whatever the user's own settings."""
    with matplotlib.style.context(["default", SETTINGS]):
        yield


def styled(draw: Callable[P, Drawing]) -> Callable[P, Drawing]:
    """`draw`, in this look."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Drawing:
        with style():
            drawing = draw(*args, **kwargs)
            # The layout of panels with a fixed aspect settles at the second drawing.
            drawing.figure.draw_without_rendering()
            return drawing

    return drawn


def empty_panel(axes: Axes, why: str) -> None:
    """A panel without data that says why; its title stays."""
    axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    for spine in axes.spines.values():
        spine.set(visible=True, color="0.8", linestyle="--")
    axes.text(
        0.5,
        0.5,
        textwrap.fill(why, 20),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color="0.35",
        fontsize=7,
    )


def empty_figure(why: str) -> Drawing:
    """A figure of one empty panel, for data that lack what it shows."""
    figure = Figure(figsize=(2.4, 1.6), layout="constrained")
    empty_panel(figure.subplots(), why)
    return Drawing(figure, f"Empty: {why}.")


def short_words(words: Sequence[str]) -> list[str]:
    """Words as they stand on an axis: long ones cut, and nothing that breaks a line."""
    plain = ["".join(c if c.isprintable() else "?" for c in word) for word in words]
    return [w if len(w) <= WORD_CHARACTERS else w[: WORD_CHARACTERS - 1] + "…" for w in plain]


def position_ticks(count: int, most: int = 6) -> Int[np.ndarray, " K"]:
    """At most `most` positions of 1..count to label, the first and others evenly after it."""
    return np.arange(1, count + 1, -(-count // most))


def panel_grid(count: int, columns: int) -> tuple[int, int]:
    """Rows and columns that hold `count` panels, at most `columns` beside each other."""
    columns = max(1, min(count, columns))
    return -(-count // columns), columns
