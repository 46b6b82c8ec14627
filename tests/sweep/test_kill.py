"""Real faults: processes killed at random moments, several at work at once, signals, full disks."""

import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.sweep.processes import (
    assert_same_units,
    leftovers,
    run,
    start,
    statuses,
    unit_arrays,
    write_spec,
)

pytestmark = pytest.mark.slow

OPTIONS = ("--width", "2", "--checkpoint-steps", "20")


@pytest.fixture(scope="session")
def spec(tmp_path_factory):
    return write_spec(tmp_path_factory.mktemp("spec"))


@pytest.fixture(scope="session")
def whole(spec, tmp_path_factory):
    """The folder of an uninterrupted sweep, and how many seconds it took (cache filled)."""
    folder = tmp_path_factory.mktemp("whole") / "first"
    assert run("sweep", spec, "--out", folder, *OPTIONS)[0] == 0
    began = time.monotonic()
    again = folder.parent / "second"
    assert run("sweep", spec, "--out", again, *OPTIONS)[0] == 0
    seconds = time.monotonic() - began
    assert_same_units(folder, again)
    assert len(unit_arrays(folder)) == 4
    assert not leftovers(folder)
    return folder, seconds


def last_checkpoints(folder: Path) -> dict[str, int]:
    """The step of the last whole checkpoint of every unit, by unit."""
    found: dict[str, int] = {}
    for path in folder.glob("units/*/*/checkpoints/*"):
        if path.name.isdigit():
            unit = path.parts[-3]
            found[unit] = max(found.get(unit, 0), int(path.name))
    return found


TARGETS = ("sweep.json", "checkpoint", "result", "results.zarr")
"""What is being written when a process is killed on purpose, not at random."""


def being_written(folder: Path) -> set[str]:
    """What has a temporary name in a folder just now."""
    found = set()
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            if name.endswith(".tmp"):
                unit = ".npz." in name
                checkpoint = Path(parent).name == "checkpoints"
                found.add(
                    "checkpoint" if checkpoint else "result" if unit else name.removeprefix(".")
                )
        folders[:] = [name for name in folders if not name.endswith(".tmp")]
    return {target for target in TARGETS for name in found if name.split(".vm")[0] == target}


def kill_while_writing(process, folder: Path, target: str) -> bool:
    """Kill a process as soon as it writes something; False if it ended before."""
    while process.poll() is None:
        if target in being_written(folder):
            process.kill()
            break
    return process.wait() == -signal.SIGKILL


def test_twenty_kills_change_no_bit_and_lose_at_most_one_checkpoint(spec, whole, tmp_path):
    """Half of them at random moments, half while something is written."""
    reference, seconds = whole
    rng = random.Random(20)
    killed, hit, sweeps = 0, Counter(), 0
    while killed < 20:
        folder, ended = tmp_path / f"run{sweeps}", False
        sweeps += 1
        assert sweeps <= 20, f"sweeps end before they are killed: {killed} kills, {hit}"
        while not ended:
            expected = last_checkpoints(folder)
            times = {p: p.stat().st_mtime_ns for p in folder.glob("units/*/*.npz")}
            process = start("sweep", spec, "--out", folder, *OPTIONS)
            if killed % 2:
                target = min(TARGETS, key=lambda name: hit[name])
                hit[target] += 1 if kill_while_writing(process, folder, target) else 0.5
            elif killed < 20:
                time.sleep(rng.uniform(0.2, 0.9) * seconds)
                process.kill()
            _, err = process.communicate()
            if process.returncode == -signal.SIGKILL:
                killed += 1
            else:
                assert process.returncode == 0, err
                ended = True
                seconds *= 0.8  # The machine has become faster, or there is less left to do.
            resumed = {
                unit: int(step.replace(",", ""))
                for unit, step in re.findall(r"unit (\w+) goes on from step ([\d,]+)", err)
            }
            assert resumed.items() <= expected.items()
            for path, before in times.items():
                assert path.stat().st_mtime_ns == before, "a finished unit was run again"
        assert run("sweep", spec, "--out", folder, *OPTIONS)[0] == 0
        assert_same_units(folder, reference)
        assert not leftovers(folder)
    assert sum(count >= 1 for count in hit.values()) >= 3, hit


@pytest.mark.parametrize("count", [2, 4])
def test_several_workers_do_every_unit_once(spec, whole, tmp_path, count):
    folder = tmp_path / "s"
    workers = ("--workers", str(count), "--json")
    code, out, err = run("sweep", spec, "--out", folder, *OPTIONS, *workers)
    assert code == 0, err
    assert json.loads(out)["status"] == {"ok": 8}
    assert_same_units(folder, whole[0])
    assert not leftovers(folder)
    assert statuses(folder)["ok"] == 8


def test_a_killed_workers_unit_is_taken_over_at_once(spec, whole, tmp_path):
    folder = tmp_path / "s"
    first = start("sweep", spec, "--out", folder, *OPTIONS)
    while not list(folder.glob("units/*/*/checkpoints/[0-9]*")):
        assert first.poll() is None
        time.sleep(0.01)
    second = start("worker", folder, *OPTIONS[2:])
    first.kill()
    first.communicate()
    _, err = second.communicate()
    assert second.returncode == 0, err
    assert_same_units(folder, whole[0])
    assert not leftovers(folder)


LONG = ("--width", "2", "--set", "train.steps=20000")
"""Training that outlasts the first line of progress (4 seconds), on any machine."""


@pytest.fixture(scope="session")
def long(spec, tmp_path_factory):
    """The folder of an uninterrupted longer sweep."""
    folder = tmp_path_factory.mktemp("long") / "s"
    assert run("sweep", spec, "--out", folder, *LONG)[0] == 0
    return folder


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGINT, "2")]
)
def test_a_signal_leaves_a_checkpoint_and_130(spec, long, tmp_path, number, workers):
    folder = tmp_path / "s"
    options = (*LONG, "--checkpoint-minutes", "60", "--workers", workers)
    process = start("sweep", spec, "--out", folder, *options)
    for line in process.stderr:
        if "model-steps, " in line:
            break
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err
    finished = len(unit_arrays(folder))
    assert last_checkpoints(folder) or finished
    assert statuses(folder)["running"] == 0
    assert run("sweep", spec, "--out", folder, *options)[0] == 0
    assert_same_units(folder, long)
    assert not leftovers(folder)


def test_three_quick_interrupts_still_give_130(spec, tmp_path):
    process = start("sweep", spec, "--out", tmp_path / "s", *OPTIONS)
    for line in process.stderr:
        if "compiling" in line:
            break
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1,200 kB, and a function that mounts it anew with other options."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system takes root")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = mount("-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(place))
    if mounted.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    yield place, lambda options: mount("-o", f"remount,{options}", str(place))
    subprocess.run(["umount", str(place)], check=True)


def mount(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["mount", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("options", [OPTIONS, OPTIONS[:2]], ids=["checkpoint", "result"])
def test_a_full_disk_is_one_line_and_nothing_is_lost(spec, whole, small_disk, options):
    place, remount = small_disk
    folder = place / "s"
    if options == OPTIONS[:2]:
        remount("size=88k")
    code, _, err = run("sweep", spec, "--out", folder, *options)
    assert code == 1
    assert "Traceback" not in err
    assert "No space left on device" in err.splitlines()[-1]
    before = unit_arrays(folder)
    remount("size=20m")
    assert run("sweep", spec, "--out", folder, *options)[0] == 0
    assert before.keys() <= unit_arrays(folder).keys()
    assert_same_units(folder, whole[0])
    assert not leftovers(folder)


def test_a_read_only_folder_is_one_line(spec, whole, small_disk):
    place, remount = small_disk
    remount("size=20m")
    folder = place / "s"
    process = start("sweep", spec, "--out", folder, *OPTIONS)
    while not unit_arrays(folder):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert remount("ro").returncode == 0
    code, _, err = run("sweep", spec, "--out", folder, *OPTIONS)
    assert code in (1, 2)
    assert "Traceback" not in err
    assert "Read-only file system" in err
    assert statuses(folder)["ok"] >= 2
    remount("rw")
    assert run("sweep", spec, "--out", folder, *OPTIONS)[0] == 0
    assert_same_units(folder, whole[0])
    assert not leftovers(folder)
