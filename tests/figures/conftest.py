"""What no figure may do: text that overlaps or leaves the canvas."""

import itertools
from collections.abc import Iterator

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


@pytest.fixture(scope="session")
def check_text():
    """Draw a figure and check all its text; returns the texts."""

    def check(figure: Figure) -> list[str]:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        hidden = set(map(id, _undrawn(figure)))
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        texts = [text for text in texts if id(text) not in hidden]
        renderer = canvas.get_renderer()
        # Half a pixel of slack: boxes are rounded.
        boxes = [text.get_window_extent(renderer).padded(-0.5) for text in texts]
        for text, box in zip(texts, boxes, strict=True):
            inside = box.x0 >= 0 and box.y0 >= 0
            inside &= box.x1 <= figure.bbox.width and box.y1 <= figure.bbox.height
            assert inside, f"{text.get_text()!r} leaves the canvas"
        for (one, a), (other, b) in itertools.combinations(zip(texts, boxes, strict=True), 2):
            assert not a.overlaps(b), f"{one.get_text()!r} and {other.get_text()!r} overlap"
        return [text.get_text() for text in texts]

    return check


def _undrawn(figure: Figure) -> Iterator[Text]:
    """Labels of ticks outside the view, which matplotlib keeps but does not draw."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-6 * (high - low)
            for tick in axis.get_major_ticks():
                if not (axis.get_visible() and low - slack <= tick.get_loc() <= high + slack):
                    yield from (tick.label1, tick.label2)
        if not axes.axison:
            yield from axes.findobj(Text)
