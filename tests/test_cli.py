"""The program from outside: exit codes, one line for bad input, JSON alone where JSON is asked."""

import json

import numpy as np
import pytest

from aedjax.cli import COMMANDS, run_command
from tests.conftest import TINY


def test_train_leaves_a_sweep_of_one_with_figures(trained):
    names = {path.name for path in trained.iterdir()}
    assert names == {
        "sweep.json",
        "vocabularies.json",
        "units",
        "leases",
        "results.zarr",
        "figures",
    }
    (words,) = json.loads((trained / "vocabularies.json").read_text("utf-8"))
    assert words["task"]["name"] == "one_to_one"
    assert words["encoder"] == ["<pad>", "<bos>", "<eos>", "<unk>", "a", "b", "c"]
    assert (trained / "figures" / "sample_attention.png").stat().st_size > 1000


def test_the_same_command_again_runs_nothing(trained, capsys):
    assert run_command(["train", *TINY, "--out", str(trained), "--json"]) == 0
    captured = capsys.readouterr()
    assert "1 of 1 units are there already" in captured.err
    assert json.loads(captured.out)["status"] == {"ok": 1}


def test_compare_prints_a_table_or_json_alone(trained, capsys):
    assert run_command(["compare", str(trained), "--metric", "loss"]) == 0
    assert "one_to_one" in capsys.readouterr().out
    select = [
        "decoder_part=temporal",
        "encoder_part=input",
        "kind=raw",
        "method=joint",
        "fit=cross",
    ]
    options = [f"--select={place}" for place in select]
    assert run_command(["compare", str(trained), "--metric=share", *options, "--to=json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["n"] == 1
    assert 0 < row["mean"] < 1


def test_states_writes_the_file(trained, tmp_path, capsys):
    out = tmp_path / "s.npz"
    command = ["states", str(trained), "--run=0", "--method=joint", f"--out={out}", "--json"]
    assert run_command(command) == 0
    shapes = json.loads(capsys.readouterr().out)["shapes"]
    with np.load(out, allow_pickle=False) as arrays:
        assert {name: list(arrays[name].shape) for name in arrays.files} == shapes


@pytest.mark.parametrize("what", ["tasks", "models", "metrics"])
def test_list_names_the_table(what, capsys):
    assert run_command(["list", what, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) >= 3


def test_version_and_help(capsys):
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.startswith("aedjax ")
    for name in COMMANDS:
        with pytest.raises(SystemExit) as stop:
            run_command([name, "--help"])
        assert stop.value.code in (0, None)
        assert f"aedjax {name}" in capsys.readouterr().out


BAD = [
    (["train", "--task", "escna"], "task.name = 'escna' is unknown; did you mean 'escan'?"),
    (["train", "--architecture", "aod"], "model.architecture = 'aod' is unknown"),
    (["train", "--set", "model.cell=gur"], "model.cell = 'gur' is unknown; did you mean 'gru'?"),
    (["train", "--set", "model.hiden_size=3"], "hiden_size"),
    (["train", "--set", "train.learning_rate=-1"], "train.learning_rate = -1"),
    (["train", "--set", "train.learning_rate=nan"], "train.learning_rate = nan"),
    (["train", "--set", "train.learning_rate=1e999"], "train.learning_rate = inf"),
    (["train", "--set", "train.steps=many"], "train.steps = 'many'"),
    (["train", "--set", "sweep.seeds=0"], "sweep.seeds"),
    (["train", "--steps", "x"], "--steps"),
    (["train", "--sed", "1"], "--sed"),
    (["sweep", "nowhere.toml"], "nowhere.toml"),
    (["sweep"], "SPEC"),
    (["lsit"], "lsit"),
    (["list", "task"], "did you mean 'tasks'?"),
    (["compare", "nowhere"], "holds no sweep"),
    (["figures", "nowhere"], "holds no sweep"),
    (["states", "nowhere"], "holds no sweep"),
]


@pytest.mark.parametrize(
    ("command", "fragment"), BAD, ids=[" ".join(command) for command, _ in BAD]
)
def test_bad_input_is_one_line_and_exit_code_2(command, fragment, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_command(command) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("aedjax: error: ")
    assert captured.err.count("\n") == 1
    assert fragment in captured.err
    assert list(tmp_path.iterdir()) == []


def test_bad_places_in_a_sweep_are_named(trained, capsys):
    for command, fragment in [
        (["states", str(trained), "--run", "1"], "run = 1 does not exist"),
        (["states", str(trained), "--method", "both"], "method = 'both'"),
        (["compare", str(trained), "--metric", "los"], "did you mean 'loss'?"),
        (["compare", str(trained), "--metric", "share"], "decoder_part"),
        (["compare", str(trained), "--select", "kind"], "has no '='"),
        (["compare", str(trained), "--to", "jsno"], "did you mean 'json'?"),
        (["train", *TINY, "--seed", "1", "--out", str(trained)], "holds another sweep"),
    ]:
        assert run_command(command) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert fragment in captured.err


def test_an_interrupt_is_exit_code_130(monkeypatch, capsys):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(COMMANDS["list"], "run", interrupted)
    assert run_command(["list", "tasks"]) == 130
    assert "interrupted" in capsys.readouterr().err
