"""A unit's result appears whole or not at all, and comes back as it was."""

import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.sweep import store
from aedjax.sweep.engine import UnitResult
from aedjax.sweep.plan import Layout, Unit
from aedjax.sweep.record import Record
from aedjax.sweep.spec import spec_from_document

RESULT = UnitResult(
    np.array([0, 3]),
    {"loss": np.ones((2, 2)), "share": np.zeros((2, 2, 3, 3))},
    {"encoder": {"embedding": np.arange(6.0).reshape(2, 3)}, "bias": np.ones((2, 1))},
    np.array([-1, 2]),
    {"jax": "1"},
)
UNIT = Unit("abcd", 0, (0, 1), 2)


@pytest.fixture
def written(tmp_path):
    store.write_error(tmp_path, UNIT.id, "first try")
    store.write_result(tmp_path, UNIT, RESULT)
    return tmp_path


def test_a_result_comes_back_as_it_was(written):
    back = store.read_result(written, "abcd")
    np.testing.assert_array_equal(back.steps, RESULT.steps)
    np.testing.assert_array_equal(back.diverged_at, RESULT.diverged_at)
    assert back.metrics.keys() == RESULT.metrics.keys()
    np.testing.assert_array_equal(
        back.params["encoder"]["embedding"], RESULT.params["encoder"]["embedding"]
    )
    assert back.provenance == RESULT.provenance
    assert not store.error_path(written, "abcd").exists()
    assert [path.name for path in (written / "units" / "ab").iterdir()] == ["abcd.npz"]


def npy(path):
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))


def with_object(path):
    np.savez(path, **{**np.load(path), "steps": np.array([object()], dtype=object)})


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(path.read_bytes()[:200]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes().replace(b"NUMPY", b"NUMPI")),
        lambda path: path.unlink(),
        npy,
        with_object,
    ],
)
def test_a_damaged_result_is_named_and_runs_no_code(written, harm):
    harm(store.result_path(written, "abcd"))
    with pytest.raises(InputError, match=r"unit file .*abcd.npz' is missing or damaged"):
        store.read_result(written, "abcd")


def split(folder, unit):
    store.split_path(folder, unit.id).parent.mkdir(parents=True, exist_ok=True)
    store.split_unit(folder, unit)


def test_units_that_did_not_fit_are_replaced_by_their_halves(tmp_path):
    spec = spec_from_document({"name": "s", "sweep": {"seeds": 5}})
    record = Record((spec,), Layout(8, 1, "cpu"))
    (whole,) = store.current_units(tmp_path, record)
    assert (whole.width, whole.members) == (5, (0, 1, 2, 3, 4))
    store.narrow_group(tmp_path, record.plan.groups[0].id, 3)
    split(tmp_path, whole)
    first, second = store.current_units(tmp_path, record)
    assert (first.width, first.members, second.members) == (3, (0, 1), (2, 3, 4))
    split(tmp_path, second)
    parts = store.current_units(tmp_path, record)
    assert [(part.width, part.members) for part in parts] == [(3, (0, 1)), (2, (2,)), (2, (3, 4))]
    assert len({part.id for part in (whole, second, *parts)}) == 5


def test_a_groups_width_only_shrinks(tmp_path):
    assert store.narrowed_width(tmp_path, "g") is None
    store.narrow_group(tmp_path, "g", 8)
    store.narrow_group(tmp_path, "g", 16)
    assert store.narrowed_width(tmp_path, "g") == 8
    store.narrow_group(tmp_path, "g", 4)
    assert store.narrowed_width(tmp_path, "g") == 4
