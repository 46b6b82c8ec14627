"""learning_curves: the lines are the means over seeds, from step 0 on."""

import numpy as np

from aedjax.figures import learning_curves
from aedjax.stats.estimate import mean_band
from tests.stats.synthetic import STEPS, sweep, with_status


def test_a_line_a_cell_through_the_means():
    data = sweep()
    figure, caption = learning_curves(data)
    assert [axes.get_title() for axes in figure.axes] == ["one_to_one", "escan"]
    for place, axes in enumerate(figure.axes):
        assert (axes.get_xlabel(), axes.get_ylim()) == ("training step", (0, 1.03))
        assert len(axes.lines) == 3
        assert len(axes.collections) == 3
        for cell, line in enumerate(axes.lines):
            runs = slice(12 * place + 4 * cell, 12 * place + 4 * cell + 4)
            assert line.get_xdata().tolist() == STEPS
            expected = data["token_accuracy_curve"].values[runs].mean(axis=0)
            np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-12)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["ved", "aed", "ao"]
    assert "95% percentile bootstrap interval of the mean over seeds" in caption


def test_the_band_is_the_interval_of_the_mean():
    data = sweep(tasks=("escan",), architectures=("aed",))
    (axes,) = learning_curves(data).figure.axes
    corners = axes.collections[0].get_paths()[0].vertices
    low, high = mean_band(data["token_accuracy_curve"].values)
    for step, ends in zip(STEPS, zip(low, high, strict=True), strict=True):
        at = corners[corners[:, 0] == step, 1]
        np.testing.assert_allclose([at.min(), at.max()], ends, rtol=1e-12)


def test_lost_runs_are_left_out_and_counted():
    data = with_status(sweep(tasks=("escan",), architectures=("aed",)), diverged=[0], pending=[1])
    figure, caption = learning_curves(data)
    expected = data["token_accuracy_curve"].values[2:].mean(axis=0)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), expected, rtol=1e-12)
    assert "n = 2 seeds" in caption
    assert "2 of 4 runs left out" in caption


def test_steps_that_a_cell_lacks_are_left_out():
    data = sweep(tasks=("escan",), architectures=("aed", "ao"))
    data["token_accuracy_curve"].values[:4, 1] = np.nan
    aed, ao = learning_curves(data).figure.axes[0].lines
    assert aed.get_xdata().tolist() == [0, 200, 400]
    assert ao.get_xdata().tolist() == STEPS


def test_one_seed_has_no_band():
    figure, caption = learning_curves(sweep(seeds=1))
    assert all(not axes.collections for axes in figure.axes)
    assert "none for fewer than 2 seeds" in caption


def test_settings_are_told_apart_by_line_and_architectures_by_colour():
    figure, _ = learning_curves(sweep(tasks=("escan",), learning_rate=[0.001, 0.003]))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[:2] == ["ved, learning_rate=0.001", "ved, learning_rate=0.003"]
    looks = [(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines]
    assert len(set(looks)) == 6
    assert looks[0][0] == looks[1][0] != looks[2][0]


def test_many_settings_are_thin_lines_named_by_architecture():
    data = sweep(tasks=("escan",), learning_rate=[0.001, 0.002, 0.003, 0.004])
    figure, caption = learning_curves(data)
    assert len(figure.axes[0].lines) == 12
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ved", "aed", "ao"]
    assert not figure.axes[0].collections
    assert "no interval" in caption
