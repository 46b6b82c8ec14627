"""One owner at a time, however many ask, and whoever dies is replaced."""

import os
import signal
import subprocess
import sys
import time

import pytest

from aedjax.sweep import lease as leases
from aedjax.sweep.lease import LeaseLostError, check, claim, finish, heartbeat, holder, release
from aedjax.sweep.processes import Process, this_process

CLAIM = (
    "import sys, time; from pathlib import Path; from aedjax.sweep.lease import claim\n"
    "got = claim(Path(sys.argv[1])); print(got is not None, flush=True); time.sleep(60)"
)


@pytest.fixture
def other(tmp_path):
    """Another process of this host that claims the folder and then sleeps."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, process.stdout.readline().strip() == "True"

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_lease_is_had_once(tmp_path, other):
    lease = claim(tmp_path)
    assert lease.number == 1
    assert claim(tmp_path) is None
    assert not other()[1]
    assert holder(tmp_path).process == this_process()
    check(lease)
    finish(lease)
    assert not tmp_path.exists()
    assert holder(tmp_path) is None


def test_a_killed_process_is_replaced_at_once(tmp_path, other):
    process, got = other()
    assert got
    assert claim(tmp_path) is None
    process.send_signal(signal.SIGKILL)
    time.sleep(0.1)  # The zombie of a process nobody waited for is gone too.
    lease = claim(tmp_path)
    assert lease.number == 2
    finish(lease)
    assert not tmp_path.exists()


def test_a_process_with_the_pid_of_a_dead_one_is_another(tmp_path):
    host, pid, started = this_process()
    assert this_process().alive()
    assert not Process(host, pid, started - 10_000).alive()
    assert not Process(host, 2**22 + 1, started).alive()


def write(lease, process, released=False):
    import json

    lease.path.write_text(json.dumps({"process": process, "released": released}))


def test_another_host_is_believed_until_its_heart_stops(tmp_path):
    lease = claim(tmp_path)
    write(lease, ("elsewhere", 1, 1))
    assert claim(tmp_path) is None
    past = time.time() - leases.EXPIRY_SECONDS - 1
    os.utime(lease.path, (past, past))
    second = claim(tmp_path)
    assert second.number == 2
    with pytest.raises(LeaseLostError):
        check(lease)
    check(second)


def test_a_heartbeat_keeps_a_lease_fresh(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.05)
    lease = claim(tmp_path)
    os.utime(lease.path, (0, 0))
    with heartbeat(lease):
        for _ in range(100):
            time.sleep(0.05)
            if lease.path.stat().st_mtime > 0:
                break
    assert time.time() - lease.path.stat().st_mtime < 60


def test_a_released_lease_is_free_at_once(tmp_path):
    lease = claim(tmp_path)
    release(lease)
    assert holder(tmp_path) is None
    assert claim(tmp_path).number == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"process": 3}', '{"process": ["a", "b", "c"]}'])
def test_a_lease_that_cannot_be_read_is_nobodys(tmp_path, text):
    (tmp_path / "lease.7").write_text(text)
    assert claim(tmp_path).number == 8


RACE = (
    "import sys, time; from pathlib import Path; from aedjax.sweep.lease import claim\n"
    "until = float(sys.argv[2]); wins = []\n"
    "time.sleep(max(0, until - time.time()))\n"
    "for k in range(200):\n"
    "    if claim(Path(sys.argv[1]) / str(k)) is not None: wins.append(k)\n"
    "print(*wins, flush=True)\n"
    "sys.stdin.read()"
)


CHURN = (
    "import sys, time; from pathlib import Path; from aedjax.sweep.lease import claim, finish\n"
    "until = float(sys.argv[2]); done = 0\n"
    "time.sleep(max(0, until - time.time()))\n"
    "for k in range(1000):\n"
    "    lease = claim(Path(sys.argv[1]) / 'thing')\n"
    "    if lease is not None: finish(lease); done += 1\n"
    "print(done, flush=True)\n"
    "sys.stdin.read()"
)


def racing(code, folder):
    """Four processes that run the same code from the same moment on."""
    start = str(time.time() + 2)
    return [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]


def test_claiming_what_is_being_finished_is_no_error(tmp_path):
    processes = racing(CHURN, tmp_path)
    done = [int(process.stdout.readline()) for process in processes]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert sum(done) >= 1000
    assert os.listdir(tmp_path) == []


def test_of_four_processes_that_race_one_wins_each_lease(tmp_path):
    processes = racing(RACE, tmp_path)
    wins = [[int(k) for k in process.stdout.readline().split()] for process in processes]
    for process in processes:
        process.communicate()
    assert sorted(k for won in wins for k in won) == list(range(200))
