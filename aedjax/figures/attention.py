"""Attention of a sample, with its words, beside the mean attention over samples."""

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage

from aedjax.figures.example import Example, often_reached
from aedjax.figures.style import (
    SEQUENTIAL,
    Drawing,
    empty_figure,
    empty_panel,
    position_ticks,
    short_words,
    styled,
)

CELL = 0.14
"""Inches a position takes: a line of the small font that labels it."""
NARROWEST = 1.3
"""Inches that the smallest panel takes, for its title."""
MARGIN = 1.1
"""Inches beside and below a panel for words."""
TITLES = 0.8
"""Inches above a panel for titles, with some to spare, so that the width limits its size."""
BAR = 0.7
"""Inches for the colour bar."""


@styled
def sample_attention(examples: Sequence[Example]) -> Drawing:
    """One row an example: attention α_st of one sample (the first of median length) with its words,
    and the mean attention over samples at positions that at least half of them reach."""
    if not examples:
        return empty_figure("no run has finished")
    samples = [median_sample(example) for example in examples]
    sizes = [_size(example, n) for example, n in zip(examples, samples, strict=True)]
    heights = [height for *_, height in sizes]
    width = max(left + right for left, right, _ in sizes)
    figure = Figure(figsize=(width + BAR, sum(heights)), layout="constrained")
    rows = figure.subfigures(len(examples), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row, example, n, (left, right, _) in zip(rows, examples, samples, sizes, strict=True):
        # Panels keep their size beside wider ones: what a row does not need stays blank.
        blank = max(width - left - right, 0.01)
        grid = row.add_gridspec(1, 3, width_ratios=(left, right, blank))
        title = textwrap.fill(example.title, 60)
        row.suptitle(title, x=0.01, ha="left", fontsize=8, fontweight="bold")
        _draw_row(row, row.add_subplot(grid[0]), row.add_subplot(grid[1]), example, n)
    counts = sorted({int(example.encoder_count.max(initial=0)) for example in examples})
    return Drawing(
        figure,
        "Attention of one test sample, the first of median length (left), and mean attention over "
        f"{' or '.join(map(str, counts))} test samples at positions that at least half of them "
        "reach (right). Each row is one run, one seed; no interval. Rows of a panel are the target "
        "words that the decoder writes, columns the words that the encoder reads.",
    )


def median_sample(example: Example) -> int:
    """The first sample whose input has the (lower) median length."""
    lengths = np.array([len(words) for words in example.encoder_words])
    return int(np.argmax(lengths == np.sort(lengths)[(len(lengths) - 1) // 2]))


def _size(example: Example, n: int) -> tuple[float, float, float]:
    """Inches in width of the sample's panel, of the mean's, and in height of both, labels in."""
    if example.attention is None:
        return NARROWEST + MARGIN, NARROWEST + MARGIN, NARROWEST
    sample = len(example.encoder_words[n]), len(example.target_words[n])
    mean = often_reached(example.encoder_count), often_reached(example.decoder_count)
    left, right = (max(CELL * columns, NARROWEST) + MARGIN for columns in (sample[0], mean[0]))
    return left, right, max(CELL * max(sample[1], mean[1]), NARROWEST) + MARGIN + TITLES


def _draw_row(row: SubFigure, left: Axes, right: Axes, example: Example, n: int) -> None:
    left.set_title(f"sample {n + 1}")
    right.set_title("mean")
    if example.attention is None or example.mean_attention is None:
        for axes in (left, right):
            empty_panel(axes, f"{example.architecture.upper()} has no attention")
        return
    words, targets = example.encoder_words[n], example.target_words[n]
    sample = example.attention[n, : len(targets), : len(words)]
    reached = often_reached(example.decoder_count), often_reached(example.encoder_count)
    mean = example.mean_attention[: reached[0], : reached[1]]
    if not (np.isfinite(sample).any() and np.isfinite(mean).any()):
        for axes in (left, right):
            empty_panel(axes, "attention is not finite: the run diverged")
        return
    top = float(np.nanmax(np.concatenate([sample.ravel(), mean.ravel()])))
    _heat(left, sample, top)
    _label_words(left, words, targets)
    image = _heat(right, mean, top)
    right.set(xlabel="encoder position", ylabel="decoder position")
    right.set(xticks=position_ticks(reached[1]), yticks=position_ticks(reached[0]))
    row.colorbar(image, ax=[left, right], label="attention", aspect=15, shrink=0.8, pad=0.02)


def _heat(axes: Axes, values: Float[np.ndarray, "S T"], top: float) -> AxesImage:
    colours = matplotlib.colormaps[SEQUENTIAL].with_extremes(bad="0.85")
    rows, columns = values.shape
    extent = (0.5, columns + 0.5, rows + 0.5, 0.5)  # positions count from 1
    return axes.imshow(values, colours, vmin=0.0, vmax=top, extent=extent, interpolation="none")


def _label_words(axes: Axes, words: Sequence[str], targets: Sequence[str]) -> None:
    # As text, not as ticks: a locator may make ticks anew, and with them formulas from "$".
    text: dict[str, Any] = {"fontsize": 6, "parse_math": False}
    axes.set_xticks(np.arange(1, len(words) + 1), short_words(words), rotation=90, **text)
    axes.set_yticks(np.arange(1, len(targets) + 1), short_words(targets), **text)
    axes.tick_params(length=1.5, pad=1.5)
    axes.set(xlabel="encoder word", ylabel="target word")
