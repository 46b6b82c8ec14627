"""What a user loads: coordinates, variables, statuses, the untrained network beside the trained."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from aedjax.analysis.metrics import METRICS, dimensions_of
from aedjax.errors import InputError
from aedjax.sweep.dataset import consolidate, load
from aedjax.sweep.store import result_path


def test_load_gives_what_the_run_gave(small):
    _, folder, data = small
    xr.testing.assert_identical(load(folder), data)
    assert not list(folder.rglob("*.tmp"))


def test_runs_are_in_the_order_of_the_spec(small):
    record, _, data = small
    assert data["run"].values.tolist() == list(range(8))
    for name in ("seed", "learning_rate", "architecture"):
        section = {"learning_rate": "train", "architecture": "model"}.get(name)
        expected = [
            getattr(getattr(member, section) if section else member, name)
            for member in record.spec.members
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


@pytest.fixture
def copy(small, tmp_path):
    """A copy of the small sweep's folder."""
    return Path(shutil.copytree(small[1], tmp_path / "copy"))


def test_a_unit_that_is_not_there_is_pending(small, copy):
    record, _, data = small
    unit = record.plan.units[0]
    result_path(copy, unit.id).unlink()
    shutil.rmtree(copy / "results.zarr")
    partial = load(copy)
    gone = np.isin(partial["run"].values, unit.members)
    assert set(partial["status"].values[gone]) == {"pending"}
    assert np.isnan(partial["token_accuracy"].values[gone]).all()
    np.testing.assert_array_equal(
        partial["token_accuracy"].values[~gone], data["token_accuracy"].values[~gone]
    )


def test_a_lost_unit_is_named_and_nothing_is_overwritten(small, copy):
    result_path(copy, small[0].plan.units[0].id).unlink()
    with pytest.raises(InputError, match=r"has lost the results of 1 of 2 units; restore them, or"):
        load(copy)
    assert (copy / "results.zarr").exists()


def test_data_of_fewer_units_than_there_are_is_not_used(small, copy, tmp_path):
    """A worker may finish a unit after another one gathered the data."""
    record, _, data = small
    path = result_path(copy, record.plan.units[1].id)
    away = path.rename(tmp_path / "away.npz")
    shutil.rmtree(copy / "results.zarr")
    consolidate(copy, small[0])
    away.rename(path)
    xr.testing.assert_identical(load(copy).drop_attrs(), data.drop_attrs())


def test_nothing_finished_is_data_too(small, copy):
    shutil.rmtree(copy / "results.zarr")
    shutil.rmtree(copy / "units")
    data = load(copy)
    assert set(data["status"].values) == {"pending"}
    assert not data.data_vars


def damage(path: Path, way: str) -> None:
    {
        "deleted": path.unlink,
        "cut": lambda: path.write_bytes(path.read_bytes()[:-3]),
        "junk": lambda: path.write_bytes(b"junk"),
        "added": lambda: (path.parent / "stranger").write_text("x"),
    }[way]()


@pytest.mark.parametrize("way", ["deleted", "cut", "junk", "added"])
@pytest.mark.parametrize("name", ["zarr.json", "token_accuracy/c/0", "seed/zarr.json"])
def test_damaged_data_is_named_and_made_anew(small, copy, name, way):
    path = copy / "results.zarr" / name
    damage(path, way)
    with pytest.raises(InputError, match=r"is damaged \(.*; delete it"):
        load(copy)
    xr.testing.assert_identical(consolidate(copy, small[0]), small[2])
    xr.testing.assert_identical(load(copy), small[2])


def test_a_file_in_the_place_of_the_data_is_named_and_replaced(small, copy):
    shutil.rmtree(copy / "results.zarr")
    (copy / "results.zarr").write_text("x")
    with pytest.raises(InputError, match="is damaged"):
        load(copy)
    xr.testing.assert_identical(consolidate(copy, small[0]), small[2])
