"""Workers: they go on where another one stopped, narrow what does not fit, and lose nothing."""

import copy
import shutil
from pathlib import Path

import numpy as np
import pytest

from aedjax.errors import FailureError
from aedjax.sweep import fitting
from aedjax.sweep import worker as workers
from aedjax.sweep.checkpoint import checkpointed_step
from aedjax.sweep.dataset import load
from aedjax.sweep.engine import train_unit
from aedjax.sweep.lease import claim
from aedjax.sweep.memory import TooWideError
from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import open_sweep, run_sweep
from aedjax.sweep.spec import spec_from_document
from aedjax.sweep.stop import Stop
from aedjax.sweep.store import (
    checkpoints_folder,
    current_units,
    error_path,
    read_result,
    result_path,
    unit_folder,
)
from aedjax.sweep.worker import WorkerOptions

EVERY_STEP = WorkerOptions(checkpoint_steps=1)


@pytest.fixture(autouse=True)
def compile_each_group_once(compile_once, monkeypatch):
    """Compiling is most of what a tiny sweep does, and no test here is about it."""
    monkeypatch.setattr(fitting, "compile_group", compile_once)


class Notes(Silent):
    """Keeps what it is told; asks for a stop after a number of stretches."""

    def __init__(self, stop=None, after=None):
        self.notes, self.failures = [], []
        self.stop, self.left = stop, after

    def note(self, text):
        self.notes.append(text)

    def failed(self, unit, error):
        self.failures.append(str(error))

    def advanced(self, model_steps, diverged):
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.stop.requested = True


def results(folder, record):
    """Every array of every unit's result, by unit."""
    found = {}
    for unit in current_units(folder, record):
        result = read_result(folder, unit.id)
        found[unit.members] = (result.metrics, result.params, result.diverged_at)
    return found


def assert_same_results(folder, other, record):
    import jax

    jax.tree.map(np.testing.assert_array_equal, results(folder, record), results(other, record))


def assert_clean(folder):
    """No lease, checkpoint, error or unfinished file is left."""
    assert all(path.is_file() for path in Path(folder).glob("units/*/*"))
    left = [path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file()]
    names = {str(path) for path in left if path.parts[0] not in ("units", "results.zarr")}
    assert names == {"sweep.json", "vocabularies.json"}
    assert {path.suffix for path in left if path.parts[0] == "units"} == {".npz"}


def interrupted(record, folder, after, options=EVERY_STEP):
    """Run the sweep until it was told to stop after so many stretches."""
    stop = Stop()
    with pytest.raises(KeyboardInterrupt):
        run_sweep(record.spec, folder, Notes(stop, after), options, stop=stop)


@pytest.mark.parametrize("after", [1, 4, 8])
def test_an_interrupted_sweep_goes_on_bit_for_bit(small, tmp_path, after):
    record, whole, data = small
    folder = tmp_path / "s"
    interrupted(record, folder, after)
    report = Notes()
    outcome = run_sweep(record.spec, folder, report, EVERY_STEP)
    assert any("goes on from step" in note for note in report.notes)
    assert_same_results(folder, whole, record)
    assert_clean(folder)
    assert outcome.data.drop_attrs().identical(data.drop_attrs())


def test_the_last_two_checkpoints_are_kept_and_a_damaged_one_is_passed_over(small, tmp_path):
    record, whole, _ = small
    folder = tmp_path / "s"
    interrupted(record, folder, 4)
    unit = record.plan.units[0]
    checkpoints = checkpoints_folder(folder, unit.id)
    assert sorted(path.name for path in checkpoints.iterdir()) == ["3", "4"]
    assert checkpointed_step(checkpoints) == 4
    victim = max(
        (p for p in (checkpoints / "4").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size
    )
    victim.write_bytes(victim.read_bytes()[:-1])
    report = Notes()
    run_sweep(record.spec, folder, report, EVERY_STEP)
    assert any("4 is damaged" in note for note in report.notes)
    assert any("goes on from step 3" in note for note in report.notes)
    assert_same_results(folder, whole, record)
    assert_clean(folder)


def test_without_a_whole_checkpoint_a_unit_starts_anew(small, tmp_path):
    record, whole, _ = small
    folder = tmp_path / "s"
    interrupted(record, folder, 2)
    for path in checkpoints_folder(folder, record.plan.units[0].id).rglob("SHA256SUMS"):
        path.unlink()
    run_sweep(record.spec, folder, Notes(), EVERY_STEP)
    assert_same_results(folder, whole, record)


def test_a_finished_unit_is_not_run_again(small, tmp_path):
    record, whole, _ = small
    folder = Path(shutil.copytree(whole, tmp_path / "s"))
    times = {path: path.stat().st_mtime_ns for path in folder.glob("units/*/*.npz")}
    unit = record.plan.units[1]
    result_path(folder, unit.id).unlink()
    run_sweep(record.spec, folder, Notes())
    again = {path: path.stat().st_mtime_ns for path in folder.glob("units/*/*.npz")}
    assert {path.stem for path in times if times[path] != again[path]} == {unit.id}
    assert_same_results(folder, whole, record)


def test_a_sweep_grows_and_what_was_there_stays_to_the_byte(small, tmp_path):
    """From 2 to 4 seeds and from 2 to 3 learning rates."""
    record, whole, data = small
    folder = Path(shutil.copytree(whole, tmp_path / "s"))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in results_in(folder)}
    assert len(before) == 2
    document = copy.deepcopy(record.spec.document)
    document["train"]["learning_rate"] = [0.003, 0.01, 1e30]
    document["sweep"]["seeds"] = [0, 1, 2, 3]
    grown = run_sweep(spec_from_document(document), folder, Notes()).data
    for path, was in before.items():
        assert (path.read_bytes(), path.stat().st_mtime_ns) == was
    assert len(results_in(folder)) > 2
    assert grown.sizes["run"] == 24
    assert set(grown["status"].values) == {"ok", "diverged"}
    old = grown.isel(run=np.isin(grown["member"].values, data["member"].values))
    for name in data.data_vars:
        order, other = np.argsort(data["member"].values), np.argsort(old["member"].values)
        np.testing.assert_array_equal(
            data[name].values[order], old[name].values[other], err_msg=str(name)
        )
    assert_clean(folder)


def results_in(folder):
    return sorted(folder.glob("units/*/*.npz"))


def test_a_unit_of_another_worker_is_left_alone(small, tmp_path):
    record, _, _ = small
    folder = tmp_path / "s"
    open_sweep(record.spec, folder, Silent())
    first, second = record.plan.units
    claim(unit_folder(folder, first.id))
    options = WorkerOptions(wait=False)
    outcome = run_sweep(record.spec, folder, Notes(), options)
    assert set(outcome.data["status"].values[list(first.members)]) == {"pending"}
    assert set(outcome.data["status"].values[list(second.members)]) <= {"ok", "diverged"}


def test_a_unit_that_was_taken_over_is_not_written(small, tmp_path, monkeypatch):
    record, _, _ = small
    folder = tmp_path / "s"
    stolen = []

    def train(*arguments):
        for progress in train_unit(*arguments):
            if not stolen:
                unit = record.plan.units[0]
                stolen.append(unit)
                (unit_folder(folder, unit.id) / "lease.2").write_text(
                    '{"process": ["elsewhere", 1, 1], "released": false}'
                )
            yield progress

    monkeypatch.setattr(workers, "train_unit", train)
    report = Notes()
    run_sweep(record.spec, folder, report, WorkerOptions(wait=False))
    assert any("taken over by another process" in note for note in report.notes)
    assert not result_path(folder, stolen[0].id).exists()


def test_what_a_process_killed_after_its_result_left_behind_goes(small, tmp_path):
    record, whole, _ = small
    folder = Path(shutil.copytree(whole, tmp_path / "s"))
    place = unit_folder(folder, record.plan.units[0].id)
    place.mkdir()
    for number in (1, 2):
        (place / f"lease.{number}").write_text('{"process": ["", 1, 1], "released": true}')
    checkpoints_folder(folder, record.plan.units[0].id).mkdir()
    run_sweep(record.spec, folder, Notes())
    assert_clean(folder)


def failing(error, times=10**9):
    """A train_unit that raises at its first stretch, so many times."""
    calls = []

    def train(*arguments):
        calls.append(1)
        if len(calls) <= times:
            raise error
        yield from train_unit(*arguments)

    return train


def test_a_failed_unit_is_recorded_and_tried_again_by_the_next_run(small, tmp_path, monkeypatch):
    record, whole, _ = small
    folder = tmp_path / "s"
    monkeypatch.setattr(workers, "train_unit", failing(ArithmeticError("bad luck"), 1))
    report = Notes()
    outcome = run_sweep(record.spec, folder, report)
    first = record.plan.units[0]
    assert outcome.failed_units == 1
    assert report.failures == ["bad luck"]
    assert error_path(folder, first.id).read_text() == "ArithmeticError: bad luck\n"
    assert set(outcome.data["status"].values[list(first.members)]) == {"failed"}
    assert run_sweep(record.spec, folder, report).failed_units == 0
    assert_same_results(folder, whole, record)
    assert_clean(folder)


def test_failing_fast_ends_at_the_first_failure(small, tmp_path, monkeypatch):
    record, _, _ = small
    monkeypatch.setattr(workers, "train_unit", failing(ArithmeticError("bad luck")))
    report = Notes()
    with pytest.raises(FailureError, match="bad luck"):
        run_sweep(record.spec, tmp_path / "s", report, WorkerOptions(fail_fast=True))
    assert len(report.failures) == 1


def test_a_program_that_does_not_fit_is_narrowed_and_all_else_stays(small, tmp_path, monkeypatch):
    record, whole, _ = small
    folder = tmp_path / "s"
    compile_group = fitting.compile_group

    def large(member, task, width, report):
        return compile_group(member, task, width, report)._replace(bytes=1000 + 100 * width)

    monkeypatch.setattr(fitting, "compile_group", large)
    report = Notes()
    outcome = run_sweep(record.spec, folder, report, WorkerOptions(memory=1200))
    assert outcome.failed_units == 0
    units = current_units(folder, record)
    assert [unit.width for unit in units] == [2, 2, 2, 2]
    assert sum("goes on at width 2" in note for note in report.notes) == 2
    for unit in units:
        narrow = read_result(folder, unit.id)
        parent = next(u for u in record.plan.units if set(unit.members) <= set(u.members))
        wide = read_result(whole, parent.id)
        places = [parent.members.index(run) for run in unit.members]
        for name, values in narrow.metrics.items():
            np.testing.assert_array_equal(values, wide.metrics[name][places])
    assert run_sweep(record.spec, folder, report).data.identical(load(folder))


@pytest.mark.parametrize(
    "error", [TooWideError("x"), MemoryError("x"), RuntimeError("RESOURCE_EXHAUSTED: x")]
)
def test_what_runs_out_of_memory_is_tried_at_half_the_width(small, tmp_path, monkeypatch, error):
    import jax

    record, _, _ = small
    if isinstance(error, RuntimeError):
        error = jax.errors.JaxRuntimeError(str(error))
    monkeypatch.setattr(workers, "train_unit", failing(error, 1))
    outcome = run_sweep(record.spec, tmp_path / "s", Notes())
    assert outcome.failed_units == 0
    units = current_units(tmp_path / "s", record)
    assert [unit.width for unit in units] == [2, 2, 4]


def test_what_never_fits_fails_with_a_remedy(small, tmp_path):
    record, _, _ = small
    report = Notes()
    outcome = run_sweep(record.spec, tmp_path / "s", report, WorkerOptions(memory=10))
    assert set(outcome.data["status"].values) == {"failed"}
    assert all("of a device's 10 B" in failure for failure in report.failures)
    assert outcome.failed_units == len(report.failures) > 0


def test_a_folder_that_cannot_be_written_ends_the_sweep(small, tmp_path, monkeypatch):
    record, whole, _ = small
    folder = tmp_path / "s"

    def full(*arguments):
        raise OSError(28, "No space left on device", "x")

    with monkeypatch.context() as patched:
        patched.setattr(workers, "write_result", full)
        with pytest.raises(OSError, match="No space left"):
            run_sweep(record.spec, folder, Notes(), EVERY_STEP)
    run_sweep(record.spec, folder, Notes())
    assert_same_results(folder, whole, record)
    assert_clean(folder)
