"""share_heatmap: the numbers in the panels are the means of the shares over seeds."""

import numpy as np

from aedjax.figures import share_heatmap
from tests.stats.synthetic import sweep, with_status

JOINT_CROSS = {"method": "joint", "fit": "cross", "kind": "centred"}


def numbers(axes) -> np.ndarray:
    """The trained shares as they are written, in rows."""
    texts = [text.get_text() for text in axes.texts]
    return np.array([float(text) for text in texts if not text.startswith("(")]).reshape(3, 3)


def test_panels_are_the_joint_cross_means_with_the_untrained_below():
    data = sweep(tasks=("escan",))
    figure, caption = share_heatmap(data)
    ved, aed, ao, bar = figure.axes
    assert [axes.get_title() for axes in (ved, aed, ao)] == [
        "escan\nved, n = 0",
        "escan\naed, n = 4",
        "escan\nao, n = 4",
    ]
    assert [text.get_text() for text in ved.texts] == ["VED has no attention"]
    for axes, runs in ((aed, slice(4, 8)), (ao, slice(8, 12))):
        expected = data["share"].sel(JOINT_CROSS).values[runs].mean(axis=0)
        np.testing.assert_allclose(numbers(axes), expected, atol=0.0051)
        assert sum(text.get_text() == "(0.11)" for text in axes.texts) == 9
    labels = [label.get_text() for label in aed.get_xticklabels()]
    assert labels == ["temporal", "input", "delta"]
    assert bar.get_ylabel() == "centred share"
    assert "method joint, fit cross" in caption


def test_a_sweep_with_the_other_method_alone_shows_that():
    data = sweep(tasks=("escan",), architectures=("aed",)).sel({"method": ["sequential"]})
    figure, caption = share_heatmap(data)
    place = {**JOINT_CROSS, "method": "sequential"}
    expected = data["share"].sel(place).values.mean(axis=0)
    np.testing.assert_allclose(numbers(figure.axes[0]), expected, atol=0.0051)
    assert "method sequential" in caption


def test_a_seed_counts_once_whatever_its_settings():
    data = sweep(tasks=("escan",), architectures=("aed",), learning_rate=[0.001, 0.003])
    data = with_status(data, diverged=[4])
    figure, caption = share_heatmap(data)
    share = data["share"].sel(JOINT_CROSS).values
    share[4] = np.nan
    expected = np.nanmean(share.reshape(2, 4, 3, 3), axis=0).mean(axis=0)
    np.testing.assert_allclose(numbers(figure.axes[0]), expected, atol=0.0051)
    assert figure.axes[0].get_title() == "escan\naed, n = 4"
    assert "averaging over learning_rate within each seed" in caption
    assert "1 of 8 runs left out" in caption


def test_what_differs_between_panels_alone_is_not_averaged():
    data = sweep(tasks=("escan",), architectures=("aed", "ao"))
    steps = np.where(data["architecture"].values == "aed", 600, 900)
    caption = share_heatmap(data.assign_coords(steps=("run", steps))).caption
    assert "means over n seeds, the untrained networks' in parentheses" in caption


def test_a_task_without_an_architecture_leaves_its_place_blank():
    data = sweep(architectures=("aed", "ao"))
    figure, _ = share_heatmap(data.isel(run=slice(0, 12)))
    assert [axes.axison for axes in figure.axes[:4]] == [True, True, True, False]


def test_why_a_panel_is_empty():
    data = sweep(tasks=("escan",), architectures=("aed",))
    nan = data.assign(share=data["share"] * np.nan)
    assert share_heatmap(nan).figure.axes[0].texts[0].get_text() == "shares are undefined"
    lost = with_status(data, failed=[0, 1, 2, 3])
    assert "no run with" in share_heatmap(lost).figure.axes[0].texts[0].get_text()
    assert share_heatmap(data.drop_vars("share")).caption == "Empty: no run has attention."
