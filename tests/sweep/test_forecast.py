"""What a sweep will need: the same groups, widths and units that a worker finds."""

import pytest

from aedjax.sweep import forecast as forecasts
from aedjax.sweep.forecast import forecast, tuned_widths
from aedjax.sweep.reporter import Silent
from aedjax.sweep.store import result_path


@pytest.fixture(autouse=True)
def compile_each_group_once(compile_once, monkeypatch):
    monkeypatch.setattr(forecasts, "compile_group", compile_once)


@pytest.fixture
def found(small):
    record = small[0]
    return lambda memory=None, measure=False: forecast(
        record.spec, record.layout, memory, measure, Silent()
    )


def test_groups_and_units_are_those_of_the_plan(small, found):
    record = small[0]
    aed, ved = found()
    assert (aed.members, ved.members) == (4, 4)
    assert aed.units + ved.units == len(record.plan.units)
    assert {aed.width, ved.width} == {unit.width for unit in record.plan.units}
    assert aed.run_seconds is None
    assert 0 < aed.bytes < aed.available


def test_the_memory_of_a_width_is_near_what_its_program_needs(small, found, compile_once):
    from aedjax.tasks import make_task

    member = small[0].spec.members[0]
    wide = compile_once(member, make_task(member.task), 4, Silent())
    predicted = found()[0].bytes
    assert abs(predicted - wide.bytes) < 0.02 * wide.bytes


def test_less_memory_makes_narrower_units_and_at_last_none(found):
    needed = found()[0].bytes
    narrow = found(memory=needed - 1)[0]
    assert (narrow.width, narrow.units) == (2, 2)
    assert narrow.bytes <= needed - 1
    assert found(memory=1)[0].width is None


def test_results_take_about_the_disk_that_was_predicted(small, found):
    record, folder, _ = small
    for group, unit in zip(found(), record.plan.units, strict=True):
        size = result_path(folder, unit.id).stat().st_size
        # A zip adds some 300 bytes an array; these networks are of the smallest.
        assert group.disk <= size <= group.disk + 400 * 80


def test_measuring_predicts_a_time(found):
    for group in found(measure=True):
        assert 0 < group.run_seconds < 60


def test_tuning_chooses_one_of_the_widths_it_timed(small):
    record = small[0]
    report = Notes()
    chosen = tuned_widths(record.spec, record.layout, report)
    assert chosen.keys() == {group.id for group in record.plan.groups}
    assert set(chosen.values()) <= {2, 4}
    assert all("model-steps a second at width 2: " in note for note in report.notes)


class Notes(Silent):
    """Keeps its notes."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)
