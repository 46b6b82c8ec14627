"""Files appear whole or not at all, and a folder is one sweep's."""

import json

import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.sweep import store
from aedjax.sweep.engine import UnitResult

DOCUMENT = {"name": "one", "train": {"steps": 3}}
RESULT = UnitResult(
    np.array([0, 3]),
    {"loss": np.ones((2, 2)), "share": np.zeros((2, 2, 3, 3))},
    {"encoder": {"embedding": np.arange(6.0).reshape(2, 3)}, "bias": np.ones((2, 1))},
    np.array([-1, 2]),
)


def test_a_result_comes_back_as_it_was(tmp_path):
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    store.write_error(tmp_path / "s", "u", ValueError("first try"))
    store.write_result(tmp_path / "s", "u", RESULT)
    back = store.read_result(tmp_path / "s", "u")
    np.testing.assert_array_equal(back.steps, RESULT.steps)
    np.testing.assert_array_equal(back.diverged_at, RESULT.diverged_at)
    assert back.metrics.keys() == RESULT.metrics.keys()
    np.testing.assert_array_equal(
        back.params["encoder"]["embedding"], RESULT.params["encoder"]["embedding"]
    )
    assert not store.error_path(tmp_path / "s", "u").exists()
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half() -> None:
        with store.replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_sweep_is_found_again(tmp_path):
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    assert store.read_document(tmp_path / "s") == DOCUMENT


def test_a_folder_whose_opening_was_cut_short_is_taken_up(tmp_path):
    (tmp_path / "s" / "units").mkdir(parents=True)
    (tmp_path / "s" / ".sweep.json.1.tmp").write_text("{")
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    assert store.read_document(tmp_path / "s") == DOCUMENT


def test_another_sweep_is_refused_by_field(tmp_path):
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    other = {"name": "one", "train": {"steps": 4}}
    with pytest.raises(InputError, match=r"another sweep \(its train.steps is 3, yours 4\)"):
        store.open_sweep(tmp_path / "s", other, [])


def test_foreign_folders_and_files_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="is not a sweep"):
        store.open_sweep(tmp_path / "full", DOCUMENT, [])
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is not a sweep"):
        store.open_sweep(tmp_path / "full" / "thesis.tex", DOCUMENT, [])
    with pytest.raises(InputError, match="cannot be written"):
        store.open_sweep(tmp_path / "full" / "thesis.tex" / "below", DOCUMENT, [])
    with pytest.raises(InputError, match="holds no sweep"):
        store.read_document(tmp_path / "full")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1}', "\xff"])
def test_a_damaged_spec_is_named(tmp_path, text):
    (tmp_path / "sweep.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"sweep\.json that cannot be read"):
        store.read_document(tmp_path)


def test_a_newer_format_is_refused(tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"format": 99, "spec": {}}))
    with pytest.raises(InputError, match="has format 99"):
        store.read_document(tmp_path)


def test_a_damaged_result_is_named(tmp_path):
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    store.write_result(tmp_path / "s", "u", RESULT)
    path = store.result_path(tmp_path / "s", "u")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="is damaged"):
        store.read_result(tmp_path / "s", "u")


def test_results_never_run_code(tmp_path):
    store.open_sweep(tmp_path / "s", DOCUMENT, [])
    path = store.result_path(tmp_path / "s", "u")
    path.parent.mkdir(parents=True)
    np.savez(path, steps=np.array([object()], dtype=object), diverged_at=np.zeros(1))
    with pytest.raises(InputError, match="is damaged"):
        store.read_result(tmp_path / "s", "u")
