"""`launch/accelerator_check.sh`: every check runs, and none fails where all is well."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import CACHE
from tests.launch.pairs import ROOT

SKIPPED = {"predicted memory", "narrowing by exhaustion"}
"""What cannot be checked on a CPU."""


def check(*arguments):
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "JAX_COMPILATION_CACHE_DIR": str(CACHE),
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
    }
    script = ROOT / "launch" / "accelerator_check.sh"
    return subprocess.run(
        ["bash", script, *map(str, arguments)], capture_output=True, text=True, env=environment
    )


@pytest.mark.slow
def test_every_check_reports(tmp_path):
    report = tmp_path / "report.txt"
    ended = check(report, "--tiny")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert report.read_text() == ended.stdout
    outcomes = dict(
        re.match(r"(\w+)  (.*) \([\d.]+ s\)", line).groups()[::-1]
        for line in ended.stdout.splitlines()
        if not line.startswith(" ")
    )
    assert {name for name, outcome in outcomes.items() if outcome == "SKIP"} == SKIPPED
    assert set(outcomes.values()) == {"PASS", "SKIP"}
    assert len(outcomes) == 8
    assert "all bitwise equal" in ended.stdout
    assert "does not fit in memory" in ended.stdout


def test_a_report_of_another_kind_is_refused():
    ended = check("report.pdf", "--tiny")
    assert ended.returncode == 2
    assert ".txt" in ended.stderr
    assert not ended.stdout
