"""aggregate: estimates by hand, intervals by scipy, and nothing dropped in silence."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aedjax.errors import InputError
from aedjax.stats import aggregate, estimates, iqm
from aedjax.stats.estimate import mean_band
from tests.stats.synthetic import sweep, with_status

PLACE = {
    "method": "joint",
    "fit": "cross",
    "decoder_part": "temporal",
    "encoder_part": "temporal",
    "kind": "centred",
}


def test_estimates_by_hand():
    values = np.array([0.0, 10.0, 2.0, 4.0, 3.0, 5.0, 1.0, 100.0])
    found, method = estimates(values)
    assert method == "BCa"
    assert found["mean"].value == 125 / 8
    assert found["median"].value == 3.5
    assert found["iqm"].value == (2 + 3 + 4 + 5) / 4
    for estimate in found.values():
        assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize("n", [2, 3, 5, 8, 9])
def test_iqm_cuts_a_quarter_of_each_side_rounded_down(n):
    values = np.random.default_rng(n).normal(size=n)
    cut = n // 4
    assert iqm(values) == pytest.approx(np.sort(values)[cut : n - cut].mean(), abs=1e-15)


def test_intervals_are_those_of_scipy():
    values = np.random.default_rng(3).beta(5, 1, 12)
    expected = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=9999, rng=np.random.default_rng(0)
    ).confidence_interval
    found, _ = estimates(values)
    assert found["mean"][1:] == pytest.approx(tuple(expected), abs=1e-12)


def test_percentile_interval_by_enumeration():
    # Two seeds: the mean of a resample is 0, 1/2 or 1 with probability 1/4, 1/2, 1/4. Four with
    # one odd: leaving any of them out leaves the median, so BCa does not exist.
    found, method = estimates(np.array([0.9, 0.9, 0.9, 0.7]))
    assert method == "percentile"
    assert found["mean"].value == pytest.approx(0.85)
    assert found["mean"].high == pytest.approx(0.9)
    # P(3 or more of 4 draws are the odd one) = 13/256 > 2.5%, P(4) = 1/256 < 2.5%
    assert found["mean"].low == pytest.approx(0.75)
    assert found["median"].low == pytest.approx(0.7)
    assert found["median"].high == pytest.approx(0.9)


@pytest.mark.parametrize("value", [1.0, 0.1, 0.99871])
def test_constant_seeds_have_an_interval_of_no_width(value):
    found, method = estimates(np.full(7, value))
    assert method == "percentile"
    for estimate in found.values():
        assert tuple(estimate) == pytest.approx((value,) * 3, abs=1e-15)


def test_one_seed_and_none():
    found, method = estimates(np.array([0.5]))
    assert method == "none"
    assert found["iqm"].value == 0.5
    assert np.isnan(found["iqm"][1:]).all()
    found, method = estimates(np.array([]))
    assert method == "none"
    assert np.isnan(found["mean"]).all()


def test_mean_band_is_the_percentile_interval_of_each_step():
    values = np.random.default_rng(1).normal(size=(6, 3))
    low, high = mean_band(values)
    rng = np.random.default_rng(0)
    means = values[rng.integers(0, 6, (20000, 6))].mean(axis=1)
    expected = np.percentile(means, [2.5, 97.5], axis=0)
    np.testing.assert_allclose([low, high], expected, atol=0.06)
    np.testing.assert_allclose(mean_band(np.ones((3, 2))), 1.0)


def test_a_row_a_cell():
    table = aggregate(sweep(), "token_accuracy")
    assert list(table.columns[:3]) == ["task", "architecture", "n"]
    assert len(table) == 6
    assert (table["n"] == 4).all()
    expected = np.array([0.9, 0.91, 0.92, 0.93])
    np.testing.assert_allclose(table["mean"], expected.mean(), rtol=1e-12)
    np.testing.assert_allclose(table["median"], 0.915, rtol=1e-12)
    np.testing.assert_allclose(table["iqm"], 0.915, rtol=1e-12)
    assert (table["interval_method"] == "BCa").all()


def test_lost_runs_are_counted_and_left_out():
    data = with_status(
        sweep(tasks=("escan",), architectures=("aed", "ao")),
        diverged=[0, 1],
        failed=[2],
        pending=[4],
    )
    data["token_accuracy"].values[[0, 1]] = 1000.0
    table = aggregate(data, "token_accuracy").set_index("architecture")
    counts = table[["n", "diverged", "failed", "pending", "undefined"]]
    assert counts.loc["aed"].tolist() == [1, 2, 1, 0, 0]
    assert counts.loc["ao"].tolist() == [3, 0, 0, 1, 0]
    assert table.loc["aed", "mean"] == pytest.approx(0.93)
    assert table.loc["aed", "interval_method"] == "none"
    assert np.isnan(table.loc["aed", "mean_low"])
    assert table.loc["ao", "mean"] == pytest.approx(0.92)


def test_a_metric_that_does_not_apply_is_undefined_not_zero():
    table = aggregate(sweep(tasks=("escan",)), "mean_attention_kl").set_index("architecture")
    assert table.loc["ved", "n"] == 0
    assert table.loc["ved", "undefined"] == 4
    assert np.isnan(table.loc["ved", "mean"])
    assert table.loc["aed", "n"] == 4


def test_swept_axes_are_columns_and_n_counts_seeds():
    table = aggregate(sweep(learning_rate=[0.001, 0.003]), "token_accuracy")
    assert list(table.columns[:3]) == ["task", "architecture", "learning_rate"]
    assert len(table) == 12
    assert (table["n"] == 4).all()


def test_the_same_every_time_whatever_the_other_cells():
    both = aggregate(sweep(), "token_accuracy")
    pd.testing.assert_frame_equal(both, aggregate(sweep(), "token_accuracy"))
    one = aggregate(sweep(tasks=("escan",)), "token_accuracy")
    pd.testing.assert_frame_equal(both[3:].reset_index(drop=True), one)


def test_a_place_in_a_metric_with_dimensions():
    data = sweep(tasks=("escan",), architectures=("aed",))
    table = aggregate(data, "share", select=PLACE)
    assert table["mean"][0] == pytest.approx(float(data["share"].sel(dict(PLACE)).mean()))
    single = data.sel({"method": ["joint"], "fit": ["cross"]})
    rest = {name: PLACE[name] for name in ("decoder_part", "encoder_part", "kind")}
    pd.testing.assert_frame_equal(aggregate(single, "share", select=rest), table)


def test_a_step_of_a_curve_may_be_text():
    data = sweep(tasks=("escan",), architectures=("aed",))
    table = aggregate(data, "token_accuracy_curve", select={"step": "0"})
    assert table["mean"][0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("metric", "select", "fragments"),
    [
        ("token_acuracy", None, ["metric = 'token_acuracy'", "did you mean 'token_accuracy'"]),
        ("share", None, ["method (sequential, joint)", "kind (raw, centred, variance)"]),
        ("share", {**PLACE, "kind": "centered"}, ["select.kind", "did you mean 'centred'"]),
        ("share", {"knd": "raw"}, ["select for share = 'knd'", "did you mean 'kind'"]),
        ("token_accuracy", {"kind": "raw"}, ["'kind'", "one value a run", "leave it out"]),
        ("token_accuracy_curve", None, ["step (0, 100, 200, 400)", "as step=0"]),
    ],
)
def test_bad_places(metric, select, fragments):
    with pytest.raises(InputError) as caught:
        aggregate(sweep(), metric, select=select)
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_run_has_finished():
    data = sweep()
    with pytest.raises(InputError, match="no run has finished"):
        aggregate(data.drop_vars(list(data.data_vars)), "loss")
