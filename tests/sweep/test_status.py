"""How far a sweep is, from its folder alone."""

import shutil

import pytest

from aedjax.errors import InputError
from aedjax.sweep.lease import claim
from aedjax.sweep.status import counts, label, sweep_status
from aedjax.sweep.store import result_path, unit_folder, write_error


@pytest.fixture
def copy(small, tmp_path):
    return shutil.copytree(small[1], tmp_path / "copy")


def test_a_finished_sweep(small):
    record, folder, _ = small
    statuses = sweep_status(folder, record)
    assert counts(statuses) == {"ok": 4, "diverged": 4, "failed": 0, "running": 0, "pending": 0}
    assert "run 2 diverged at step" in statuses[0].detail


def test_every_state_is_told_apart(small, copy):
    record = small[0]
    first, second = record.plan.units
    result_path(copy, first.id).unlink()
    assert counts(sweep_status(copy, record))["pending"] == 4
    claim(unit_folder(copy, first.id))
    running = sweep_status(copy, record)
    assert counts(running)["running"] == 4
    assert running[0].worker.startswith("pid ")
    result_path(copy, second.id).unlink()
    write_error(copy, second.id, "ValueError: no luck")
    failed = sweep_status(copy, record)
    assert counts(failed) == {"ok": 0, "diverged": 0, "failed": 4, "running": 4, "pending": 0}
    assert failed[1].detail == "ValueError: no luck"


def test_a_damaged_result_is_named(small, copy):
    record = small[0]
    result_path(copy, record.plan.units[0].id).write_bytes(b"x")
    with pytest.raises(InputError, match="is missing or damaged"):
        sweep_status(copy, record)


def test_groups_have_names_for_people(small):
    names = [label(small[0].spec.members[place]) for place in (0, 4)]
    assert names == [
        "one_to_one · aed gru, hidden 8, 6 steps",
        "one_to_one · ved gru, hidden 8, 6 steps",
    ]
