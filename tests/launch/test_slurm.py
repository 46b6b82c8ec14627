"""Sweeps by an array of workers: through submitit on this machine."""

import re
import signal
import sys

import psutil
import pytest

from aedjax.cli import run_command
from aedjax.commands.worker import Worker
from aedjax.errors import InputError
from aedjax.sweep.record import read_record
from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import open_sweep
from aedjax.sweep.spec import load_spec
from launch import slurm
from tests.launch import cluster, quiet  # noqa: F401
from tests.launch.sweeps import launched, logs, whole, with_set, working
from tests.sweep.processes import (
    assert_same_units,
    leftovers,
    unit_arrays,
    write_spec,
)

SMALL = ("train.steps=800", "sweep.seeds=2")
"""Two units of two members, each of them some seconds long."""


def test_tasks_on_this_machine_share_a_sweep_and_a_warned_one_goes_on(tmp_path):
    spec = write_spec(tmp_path)
    folder = tmp_path / "out"
    process = launched(spec, folder, "--local", "--array=2", *with_set(SMALL))
    found = cluster.wait_until(lambda: working(folder) or process.poll() is not None, 120)
    assert isinstance(found, dict), "the sweep ended before a worker could be warned"
    worker = psutil.Process(next(iter(found)))
    worker.parent().send_signal(signal.SIGUSR2)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert re.search(rb"^submitted  2 tasks, job \d+, \d+\n", out)
    said = logs(folder)
    assert "Requeued job" in said
    assert re.search(r"unit \w+ goes on from step \d+", said)
    assert_same_units(folder, whole(tmp_path / "whole", spec, *SMALL))
    assert len(unit_arrays(folder)) == 2
    assert {path.relative_to(folder).parts[0] for path in leftovers(folder)} == {"slurm"}


BAD = [
    (["--array=0"], "array = 0 is too small; use at least 1"),
    (["--gpus-per-node=-1"], "gpus_per_node = -1"),
    (["--time-minutes=2"], "signal_seconds = 120 is all of time_minutes = 2"),
    (["--mem=lots"], "mem = 'lots'"),
    (["--sbatch=qos"], "sbatch = 'qos' has no '='"),
    (["--checkpoint-steps=-1"], "checkpoint_steps = -1"),
    (["--set=train.steps=many"], "train.steps = 'many'"),
]


def refused(arguments, capsys):
    """The one line by which the program refuses its arguments."""
    assert slurm.main(list(map(str, arguments))) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("aedjax: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(("options", "fragment"), BAD, ids=[" ".join(bad[0]) for bad in BAD])
def test_bad_options_are_refused_before_anything_is_written(options, fragment, capsys, tmp_path):
    folder = tmp_path / "out"
    spec = write_spec(tmp_path)
    assert fragment in refused([spec, "--local", "--out", folder, *options], capsys)
    assert not folder.exists()


def test_what_is_missing_is_named(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    spec = write_spec(tmp_path)
    assert "nowhere.toml" in refused(["nowhere.toml", "--out", folder], capsys)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path))
        assert "sbatch is not found" in refused([spec, "--out", folder], capsys)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "submitit", None)
        assert "submitit is not installed" in refused([spec, "--local", "--out", folder], capsys)
    assert not folder.exists()


def test_another_folder_is_refused(capsys, tmp_path):
    spec = write_spec(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "thesis.txt").touch()
    assert "is not a sweep" in refused([spec, "--local", "--out", folder], capsys)
    (folder / "thesis.txt").unlink()
    open_sweep(load_spec(spec, ["train.steps=7"]), folder, Silent())
    assert "its train.steps is 7" in refused([spec, "--local", "--out", folder], capsys)


def test_a_sweep_that_is_there_is_extended_when_it_is_submitted(tmp_path):
    spec = write_spec(tmp_path)
    open_sweep(load_spec(spec), tmp_path / "out", Silent(), 2)
    longer = load_spec(spec, ["sweep.seeds=5"])
    slurm.check_folder(longer, tmp_path / "out", None)
    assert read_record(tmp_path / "out").spec.document == longer.document
    # A worker of the first submission that is started again obeys.
    Worker(str(tmp_path / "out"), str(spec)).open(tmp_path / "out")
    assert len(read_record(tmp_path / "out").specs) == 2
    with pytest.raises(InputError, match=r"its train\.steps is 300, yours 7"):
        Worker(str(tmp_path / "out"), str(spec), ("train.steps=7",)).open(tmp_path / "out")


def test_a_new_folder_is_left_to_the_first_worker(tmp_path):
    spec = write_spec(tmp_path)
    slurm.check_folder(load_spec(spec), tmp_path / "out", 2)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out" / "slurm").mkdir(parents=True)
    Worker(str(tmp_path / "out"), str(spec), width=2).open(tmp_path / "out")
    record = read_record(tmp_path / "out")
    assert (record.spec.document, record.layout.width) == (load_spec(spec).document, 2)


def test_a_worker_takes_settings_only_with_a_spec(tmp_path, capsys):
    assert run_command(["worker", str(tmp_path), "--width", "2"]) == 2
    assert "give --spec too" in capsys.readouterr().err
