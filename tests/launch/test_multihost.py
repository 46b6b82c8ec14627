"""`launch/multihost.py`: two processes train one sweep together, stop together, and go on."""

import signal
import time
import tomllib

import pytest

from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import spec_from_document
from tests.launch.pairs import ROOT, ends, start_pair
from tests.sweep.processes import assert_same_units, leftovers, unit_arrays

SPEC = """
name = "pair"
[task]
min_length = 3
max_length = 5
[model]
architecture = "aed"
hidden_size = 8
[train]
steps = 2000
batch_size = 8
learning_rate = [0.003, 1e30]
[analysis]
samples = 16
every = 1000
[sweep]
seeds = 2
"""
"""Four members in one unit, two on each process; two of them diverge."""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "pair.toml"
    path.write_text(SPEC)
    return path


def launch(spec, folder, *arguments):
    who = ("--coordinator", "{address}", "--processes", "2", "--process", "{process}")
    return start_pair(ROOT / "launch" / "multihost.py", spec, "--out", folder, *who, *arguments)


def wait_for_checkpoint(pair, folder):
    """Return once there is a checkpoint, or a process has ended."""
    while all(process.poll() is None for process in pair):
        if any(path.name.isdigit() for path in folder.glob("units/*/*/checkpoints/*")):
            return
        time.sleep(0.05)


@pytest.mark.slow
def test_two_processes_stop_together_and_end_like_one(spec, tmp_path):
    folder, alone = tmp_path / "pair", tmp_path / "alone"
    pair = launch(spec, folder, "--checkpoint-steps", "100")
    wait_for_checkpoint(pair, folder)
    pair[1].send_signal(signal.SIGTERM)
    stopped = ends(pair)
    assert [code for code, _, _ in stopped] == [130, 130], stopped
    assert not unit_arrays(folder)

    ended = ends(launch(spec, folder))
    assert [code for code, _, _ in ended] == [0, 0], ended
    (_, told, progress), (_, silence, _) = ended
    assert "goes on from step" in progress
    assert str(folder) in told
    assert not silence

    run_sweep(spec_from_document(tomllib.loads(SPEC)), alone, Silent())
    assert_same_units(folder, alone)
    assert len(unit_arrays(folder)) == 1
    assert not leftovers(folder)


def test_bad_input_ends_every_process(spec, tmp_path):
    (tmp_path / "mine.txt").write_text("not a sweep")
    for code, _, err in ends(launch(spec, tmp_path)):
        assert code == 2
        assert "is not a sweep" in err


def test_processes_that_do_not_say_who_they_are(spec, tmp_path):
    script = ROOT / "launch" / "multihost.py"
    arguments = (script, spec, "--out", tmp_path / "pair", "--processes", "2")
    for code, _, err in ends(start_pair(*arguments)):
        assert code == 2
        assert "coordinator is not given" in err
    assert not (tmp_path / "pair").exists()
