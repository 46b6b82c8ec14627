"""The program and what goes wrong around it: paths, streams, devices, runs that are missing."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from rich.table import Table

from aedjax import train
from aedjax.cli import run_command
from aedjax.commands.options import print_table
from aedjax.errors import InputError, reason, shown
from aedjax.fields import checked_value
from aedjax.models.config import ModelConfig
from aedjax.sweep.document import normalised, overridden, read_toml
from aedjax.sweep.sections import check_seed
from aedjax.training import TrainConfig
from tests.conftest import TINY


@pytest.fixture
def line(capsys):
    """The one line with which a command ends that has bad input."""

    def line(*command: str) -> str:
        capsys.readouterr()
        assert run_command(list(command)) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    return line


def program(*arguments: str, **changes) -> subprocess.CompletedProcess:
    """The program in a process of its own; `changes` are environment variables, `stdout` apart."""
    stdout = changes.pop("stdout", subprocess.PIPE)
    return subprocess.run(
        [sys.executable, "-m", "aedjax", *arguments],
        env=os.environ | changes,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


OUTPUTS = {
    "states": ["states", "{sweep}", "--out"],
    "figures": ["figures", "{sweep}", "--out"],
    "train": ["train", *TINY, "--out"],
    "sweep": ["sweep", "{spec}", "--out"],
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_every_impossible_output_is_refused_before_anything_is_done(
    command, trained, tmp_path, monkeypatch, line
):
    spec = tmp_path / "spec.toml"
    spec.write_text("")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "link.npz").symlink_to("nowhere")
    (place / "file").write_text("")
    before = sorted(place.iterdir())
    arguments = [part.format(sweep=trained, spec=spec) for part in OUTPUTS[command]]
    for out, fragment in {
        "": "out = '' is empty",
        "a\0b.npz": "NUL",
        "n" * 300 + ".npz": "too long",
        "link.npz": "link to nothing",
        "link.npz/x.npz": "link to nothing",
        "file/x.npz": "is a file and not a folder",
    }.items():
        assert fragment in line(*arguments, out)
    assert sorted(place.iterdir()) == before


def test_a_file_is_no_folder_of_figures_and_a_folder_no_file_of_states(trained, tmp_path, line):
    (tmp_path / "file").write_text("")
    assert "is a file" in line("figures", str(trained), "--out", str(tmp_path / "file"))
    (tmp_path / "folder.npz").mkdir()
    assert "is a folder" in line("states", str(trained), "--out", str(tmp_path / "folder.npz"))
    for out in (".", "noext", "x.npz/", ".npz"):
        assert "does not end in .npz" in line("states", str(trained), "--out", out)


@pytest.mark.parametrize("command", ["compare", "figures", "states", "status", "params"])
def test_what_cannot_be_a_sweep_is_named(command, tmp_path, line):
    (tmp_path / "file").write_text("")
    assert "is a file and not a folder" in line(command, str(tmp_path / "file"))
    assert "NUL" in line(command, "a\0b")
    assert "empty" in line(command, "")
    assert "too long" in line(command, "n" * 300)


def test_python_is_told_of_bad_paths_and_seeds_too():
    for arguments, fragment in (
        ({"out": "a\0b"}, "out = 'a\\x00b' has a NUL"),
        ({"out": ""}, "out = '' is empty"),
        ({"seed": -1}, "seed = -1 is out of range"),
    ):
        with pytest.raises(InputError) as caught:
            train(**arguments)
        assert fragment in str(caught.value)
    with pytest.raises(InputError, match="NUL"):
        read_toml("a\0b")


def test_what_is_no_seed_is_named():
    for value in (1.5, True, "1"):
        with pytest.raises(InputError, match=r"^seed is no whole number"):
            check_seed("seed", value)


def test_a_seed_is_named_as_it_was_given(line):
    assert "error: seed = -1 is out of range" in line("train", "--seed", "-1")


BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"])


@BUFFERING
def test_a_reader_that_goes_away_is_no_fault_worth_a_word(unbuffered):
    read, write = os.pipe()
    os.close(read)
    ended = program("list", "metrics", stdout=write, PYTHONUNBUFFERED=unbuffered)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (1, "")


@BUFFERING
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_one_line(unbuffered):
    with open("/dev/full", "w") as full:
        ended = program("list", "tasks", stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert ended.returncode == 1
    assert ended.stderr.startswith("aedjax: error: standard output")
    assert ended.stderr.count("\n") == 1


def test_a_narrow_encoding_gets_escapes(trained):
    # A command that only reads looks for no device.
    ended = program("compare", str(trained), PYTHONIOENCODING="ascii", JAX_PLATFORMS="bogus")
    assert ended.returncode == 0
    assert "one_to_one \\xb7 aed" in ended.stdout
    ended = program("compare", str(trained), "--metric", "é", PYTHONIOENCODING="ascii")
    assert ended.returncode == 2
    assert "metric = '\\xe9' is unknown" in ended.stderr


def test_platforms_that_are_not_there_are_named_and_nothing_is_left(tmp_path):
    out = tmp_path / "out"
    ended = program("train", *TINY, "--out", str(out), JAX_PLATFORMS="bogus")
    assert ended.returncode == 2
    assert ended.stderr.startswith("aedjax: error: JAX_PLATFORMS = 'bogus' finds no device")
    assert "unset it, or use 'cpu'" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not out.exists()


def test_figures_of_a_sweep_with_missing_runs_say_so(tmp_path, capsys):
    spec, folder = tmp_path / "two.toml", tmp_path / "two"
    spec.write_text("sweep.seeds = 4\n")
    settings = [*(part for part in TINY if part.startswith("--set")), "--set=train.steps=4"]
    assert run_command(["sweep", str(spec), *settings, "--width=2", f"--out={folder}"]) == 0
    shutil.rmtree(folder / "results.zarr")
    units = sorted(folder.glob("units/*/*.npz"))
    assert len(units) == 2
    for unit, number, code in zip(units, (2, 4), (0, 1), strict=True):
        unit.unlink()
        out = tmp_path / f"figures-{number}"
        capsys.readouterr()
        assert run_command(["figures", str(folder), "--json", f"--out={out}"]) == code
        captured = capsys.readouterr()
        assert f"{number} of 4 runs have not finished ({number} pending)" in captured.err
        paths = json.loads(captured.out)["figures"]
        assert (len(paths) > 0) == out.exists() == (code == 0)
    assert "nothing to draw" in captured.err


def test_no_figures_where_every_unit_failed(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("aedjax.sweep.worker.Worker.result_of", full)
    folder = tmp_path / "failed"
    assert run_command(["train", *TINY, "--out", str(folder), "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["figures"] == []
    assert not (folder / "figures").exists()
    assert "1 of 1 runs have not finished (1 failed)" in captured.err
    assert "use a smaller train.batch_size" in captured.err


def test_the_reason_of_a_failure_is_one_line_with_a_remedy_for_memory():
    remedy = "use a smaller train.batch_size, model.hidden_size or analysis.samples"
    assert reason(ValueError("first\nsecond")) == "first"
    assert reason(KeyError()) == "KeyError"
    assert reason(MemoryError()) == f"MemoryError; {remedy}"
    text = "RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.\nBuffers: ..."
    wanted = f"RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes; {remedy}"
    assert reason(RuntimeError(text)) == wanted
    assert reason(RuntimeError("INTERNAL: failed\nOut of memory")).endswith(remedy)


@pytest.mark.parametrize("columns", ["1", "20", "200"])
def test_a_table_loses_nothing_to_a_narrow_terminal(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    table = Table()
    table.add_column("cell", overflow="fold")
    for heading in ("n", "mean"):
        table.add_column(heading, no_wrap=True)
    table.add_row("one_to_one on aed", "3 of 3", "0.123, 0.456")
    print_table(table)
    printed = capsys.readouterr().out
    for word in ("cell", "one_to_one", "aed", "3 of 3", "0.123, 0.456"):
        assert word in printed


@pytest.mark.parametrize(
    "value", [1e-300, 1e-45, 1.1e-38, 3.5e38, 1e300, -1e-300], ids=lambda value: f"{value:g}"
)
def test_a_traced_number_that_float32_does_not_hold_is_refused(value):
    for config, name in ((TrainConfig, "weight_decay"), (ModelConfig, "embedding_scale")):
        with pytest.raises(InputError, match=rf"x\.{name} = "):
            checked_value("x", config, name, value)


@pytest.mark.parametrize("value", [0, 0.0, 1.2e-38, 3.4e38, 10**30])
def test_a_traced_number_that_float32_holds_is_kept(value):
    found = checked_value("x", TrainConfig, "weight_decay", value)
    assert found == float(value)
    assert np.isfinite(np.float32(found))


HUGE = "0x" + "f" * 5000
BAD_VALUES = {
    "analysis.samples=1048577": "analysis.samples = 1048577 is too large; use at most 1048576",
    "analysis.every=99999999999": "analysis.every",
    "train.steps=2020-01-01": "train.steps = 2020-01-01 is a date",
    "train.steps=[2020-01-01T00:00:00Z]": "train.steps = 2020-01-01T00:00:00Z is",
    "task={x = 07:32:00}": "malformed",
    f"train.steps={HUGE}": "is too large",
    f"train.weight_decay={HUGE}": "is not finite",
    f"task.name={HUGE}": "is a whole number; use a string",
    f"task.max_phrase_actions={HUGE}": "is too large",
    f"sweep.seeds=[{HUGE}]": "is out of range",
    f"sweep.root_seed={HUGE}": "is too large",
    f"train.steps={'9' * 5000}": "thousands of digits",
    f"train.steps={'[' * 5000}": "nested too deeply",
    'task.train_path="a\\u0000b"': "no text file holds",
}


@pytest.mark.parametrize("setting", BAD_VALUES, ids=lambda setting: setting[:40])
def test_a_value_is_shown_in_one_short_line(setting):
    with pytest.raises(InputError) as caught:
        overridden(normalised({}), [setting])
    message = str(caught.value)
    assert BAD_VALUES[setting] in message
    assert len(message) < 600
    for leak in ("\n", "datetime.", "set_int_max_str_digits"):
        assert leak not in message


def test_a_toml_file_with_an_endless_number_is_told_in_our_words(tmp_path):
    path = tmp_path / "huge.toml"
    path.write_text(f"[train]\nsteps = {'9' * 5000}\n")
    with pytest.raises(InputError, match="not TOML: a whole number has thousands of digits"):
        read_toml(path)


def test_values_are_shown_as_written():
    assert shown([1, "a", {"b": True}]) == "[1, 'a', {'b': True}]"
    assert len(shown("x" * 1000)) < 300


def test_states_name_their_split(trained, tmp_path):
    out = tmp_path / "s.npz"
    assert run_command(["states", str(trained), "--method=joint", f"--out={out}"]) == 0
    with np.load(out, allow_pickle=False) as arrays:
        metrics = json.loads(str(arrays["metrics_json"]))
    assert (metrics["method"], metrics["fit"]) == ("joint", "in_sample")


def test_help_of_states_tells_of_padding(capsys):
    with pytest.raises(SystemExit):
        run_command(["states", "--help"])
    assert "padded" in capsys.readouterr().out
