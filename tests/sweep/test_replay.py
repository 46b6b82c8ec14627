"""One member trained again, alone, is bitwise what the sweep has; and a difference is seen."""

import shutil

import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.sweep import replay as replays
from aedjax.sweep.replay import difference, replay
from aedjax.sweep.reporter import Silent
from aedjax.sweep.store import result_path


@pytest.fixture(autouse=True)
def compile_each_group_once(compile_once, monkeypatch):
    monkeypatch.setattr(replays, "compile_group", compile_once)


@pytest.mark.parametrize("run", [0, 3, 6])
def test_every_bit_is_the_same(small, run):
    found = replay(small[1], run, None, Silent())
    assert found.exact
    assert found.step == 6
    assert {name.partition("/")[0] for name in found.differences} == {"metrics", "params"}


def test_up_to_an_analysis_there_are_metrics_to_compare(small):
    found = replay(small[1], 1, 4, Silent())
    assert found.exact
    assert found.step == 4
    assert {name.partition("/")[0] for name in found.differences} == {"metrics"}


def test_a_changed_parameter_is_found(small, tmp_path):
    record, folder, _ = small
    copy = shutil.copytree(folder, tmp_path / "copy")
    path = result_path(copy, record.plan.units[0].id)
    with np.load(path) as arrays:
        changed = dict(arrays)
    name = next(name for name in changed if name.startswith("param/"))
    changed[name] = changed[name].copy()
    changed[name][1] += 0.25
    np.savez(path, **changed)
    assert replay(copy, 0, None, Silent()).exact
    found = replay(copy, 1, None, Silent())
    assert not found.exact
    gaps = {key: gap for key, gap in found.differences.items() if gap}
    assert gaps == {name.replace("param/", "params/"): pytest.approx(0.25, rel=1e-5)}


def test_bad_input_is_named(small):
    with pytest.raises(InputError, match=r"run = 8 does not exist; .* runs 0 to 7"):
        replay(small[1], 8, None, Silent())
    with pytest.raises(InputError, match=r"steps = 5 was not analysed, .*; use one of 0, 4, 6"):
        replay(small[1], 0, 5, Silent())


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("one", "other", "gap"),
    [
        ([1.0, NAN], [1.0, NAN], 0.0),
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([1.0], [NAN], INF),
        ([INF], [-INF], INF),
        ([0.0], [-0.0], np.finfo(float).tiny),
    ],
)
def test_differences(one, other, gap):
    assert difference(np.array(one, np.float32), np.array(other, np.float32)) == gap
