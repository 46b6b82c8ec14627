"""What a user loads: coordinates, variables, statuses, the untrained network beside the trained."""

import json

import numpy as np
import pytest
import xarray as xr

from aedjax.analysis.metrics import METRICS, dimensions_of
from aedjax.errors import InputError
from aedjax.sweep.dataset import gather, load
from aedjax.sweep.plan import make_plan
from aedjax.sweep.store import result_path


def test_load_gives_what_the_run_gave(small):
    _, folder, data = small
    xr.testing.assert_identical(load(folder), data)
    assert not list(folder.rglob("*.tmp"))


def test_runs_are_in_the_order_of_the_spec(small):
    spec, _, data = small
    assert data["run"].values.tolist() == list(range(8))
    for name in ("seed", "learning_rate", "architecture"):
        section = {"learning_rate": "train", "architecture": "model"}.get(name)
        expected = [
            getattr(getattr(member, section) if section else member, name)
            for member in spec.members
        ]
        assert data[name].values.tolist() == expected


def test_every_metric_has_its_dimensions_and_companions(small):
    _, _, data = small
    for name in METRICS:
        own = dimensions_of(name)
        assert data[name].dims == ("run", *own)
        assert data[f"{name}_initial"].dims == ("run", *own)
        assert data[f"{name}_curve"].dims == ("run", "step", *own)
        np.testing.assert_array_equal(data[f"{name}_curve"].sel(step=0), data[f"{name}_initial"])
        np.testing.assert_array_equal(data[f"{name}_curve"].sel(step=6), data[name])
    assert data["step"].values.tolist() == [0, 4, 6]


def test_metrics_of_attention_are_nan_without_attention(small):
    _, _, data = small
    ved = data["architecture"].values == "ved"
    assert np.isnan(data["diagonal_mass"].values[ved]).all()
    assert np.isfinite(data["diagonal_mass"].values[~ved & (data["status"].values == "ok")]).all()


def test_diverged_runs_are_there_and_dated(small):
    _, _, data = small
    wild = data["learning_rate"].values == 1e30
    assert (data["status"].values[wild] == "diverged").all()
    assert (data["status"].values[~wild] == "ok").all()
    assert (data["diverged_at"].values[wild] >= 1).all()
    assert np.isnan(data["diverged_at"].values[~wild]).all()


def test_unused_settings_are_empty(small):
    _, _, data = small
    assert set(data["attention"].values[data["architecture"].values == "ved"]) == {""}
    assert set(data["split"].values) == {""}


def test_coordinates_are_flat_and_none_is_called_name(small):
    _, _, data = small
    assert "name" not in data.coords
    for name, coordinate in data.coords.items():
        assert coordinate.dims in (("run",), (name,))
    assert json.loads(data.attrs["provenance"])["aedjax"]


def test_a_unit_that_is_not_there_is_pending(small, tmp_path):
    spec, folder, data = small
    unit = make_plan(spec).units[0]
    path = result_path(folder, unit.id)
    moved = path.rename(tmp_path / "away.npz")
    try:
        partial = gather(folder, spec)
    finally:
        moved.rename(path)
    gone = np.isin(partial["run"].values, unit.members)
    assert set(partial["status"].values[gone]) == {"pending"}
    assert np.isnan(partial["token_accuracy"].values[gone]).all()
    np.testing.assert_array_equal(
        partial["token_accuracy"].values[~gone], data["token_accuracy"].values[~gone]
    )


def test_damaged_results_are_named(small, tmp_path):
    import shutil

    _, folder, _ = small
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "results.zarr" / "zarr.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        load(copy)
