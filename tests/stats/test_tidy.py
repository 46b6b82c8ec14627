"""tidy: one row a run, nothing of a metric lost."""

import numpy as np
import pandas as pd

from aedjax.stats import tidy
from tests.stats.synthetic import sweep


def test_one_row_a_run_with_coordinates_and_metrics():
    data = sweep()
    table = tidy(data)
    assert list(table["run"]) == list(range(24))
    for name in ("task", "architecture", "seed", "status", "token_accuracy", "hidden_size"):
        assert (table[name].to_numpy() == data[name].values).all(), name
    assert table["mean_attention_kl"].isna().sum() == 8


def test_every_place_of_a_metric_is_a_column_named_by_its_labels():
    data = sweep()
    table = tidy(data)
    assert sum(name.startswith("share.") for name in table) == 2 * 2 * 3 * 3 * 3
    place = {"method": "joint", "fit": "cross", "decoder_part": "temporal"}
    place |= {"encoder_part": "delta", "kind": "raw"}
    expected = data["share"].sel(place).values
    found = table["share.joint.cross.temporal.delta.raw"].to_numpy()
    np.testing.assert_array_equal(found, expected)


def test_columns_are_in_one_order_whatever_that_of_the_data():
    data = sweep()
    backwards = data[list(data.data_vars)[::-1]]
    backwards = backwards.drop_vars(list(data.coords)).assign_coords(
        {name: data.coords[name] for name in list(data.coords)[::-1]}
    )
    assert list(backwards.coords) != list(data.coords)
    pd.testing.assert_frame_equal(tidy(backwards), tidy(data))
    assert list(tidy(data))[:3] == ["run", "task", "architecture"]


def test_curves_are_left_out():
    assert not [name for name in tidy(sweep()) if "curve" in name or name == "step"]
    assert "token_accuracy_initial" in tidy(sweep())
