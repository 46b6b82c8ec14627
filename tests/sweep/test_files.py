"""Files and folders appear whole or not at all, and can be seen to be whole."""

import os
import subprocess
import sys

import pytest

from aedjax.sweep.files import (
    CHECKSUMS,
    DamagedError,
    create_text,
    remove_leftovers,
    replacing,
    temporary_name,
    verify_checksums,
    write_checksums,
    write_text,
)


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("before", ["nothing", "a file", "a folder"])
def test_a_folder_takes_the_place_of_whatever_was_there(tmp_path, before):
    path = tmp_path / "thing"
    if before == "a file":
        path.write_text("old")
    elif before == "a folder":
        (path / "old").mkdir(parents=True)
    with replacing(path) as temporary:
        temporary.mkdir()
        (temporary / "new").write_text("x")
    assert [p.name for p in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_creating_never_replaces(tmp_path):
    assert create_text(tmp_path / "x", "first")
    assert not create_text(tmp_path / "x", "second")
    assert (tmp_path / "x").read_text() == "first\n"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_leftovers_of_dead_processes_go_and_those_of_live_ones_stay(tmp_path):
    code = (
        "import sys; from pathlib import Path; from aedjax.sweep.files import temporary_name\n"
        "temporary_name(Path(sys.argv[1]) / 'dead').write_text('half')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    temporary_name(tmp_path / "live").write_text("half")
    (tmp_path / ".strange.tmp").write_text("not ours")
    assert len(os.listdir(tmp_path)) == 3
    remove_leftovers(tmp_path)
    left = {temporary_name(tmp_path / "live").name, ".strange.tmp"}
    assert set(os.listdir(tmp_path)) == left


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    write_checksums(tmp_path)
    return tmp_path


def test_a_whole_folder_is_whole(listed):
    verify_checksums(listed)
    found = subprocess.run(["sha256sum", "-c", CHECKSUMS], cwd=listed, capture_output=True)
    assert found.returncode == 0


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "deep" / "a").unlink(), "deep/a is missing"),
        (lambda folder: write_text(folder / "b", "c"), "b is not what was written"),
        (lambda folder: (folder / "c").write_text(""), "c is not in SHA256SUMS"),
        (lambda folder: (folder / CHECKSUMS).unlink(), "SHA256SUMS is missing"),
        (lambda folder: (folder / CHECKSUMS).write_bytes(b"\xff"), "utf-8"),
    ],
)
def test_every_kind_of_damage_is_named(listed, harm, message):
    harm(listed)
    with pytest.raises(DamagedError, match=message):
        verify_checksums(listed)
