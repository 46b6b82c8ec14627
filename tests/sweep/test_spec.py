"""The spec: what a file says, and how it is filled up."""

import json
from itertools import product

import pytest

from aedjax.models.config import ModelConfig
from aedjax.sweep.document import normalised, overridden
from aedjax.sweep.sections import AnalysisConfig
from aedjax.sweep.spec import (
    Spec,
    hyperparameters,
    load_spec,
    spec_from_document,
    spec_of_one,
)
from aedjax.training import TrainConfig

TEXT = """
name = "attention-by-seed"
[task]
name = ["one_to_one", "sort"]
min_length = 4
[model]
architecture = ["ved", "aed"]
embedding_size = 16
[train]
steps = 300
learning_rate = [0.001, 0.003]
[analysis]
methods = "joint"
every = 100
[sweep]
seeds = [5, 3]
root_seed = 9
"""


@pytest.fixture
def load(tmp_path):
    """The sweep of a file with this text, with overrides."""

    def load(text: str | bytes, *overrides: str):
        path = tmp_path / "some-sweep.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_spec(path, overrides)

    return load


def distinct(spec: Spec, section: str, key: str) -> list:
    return list(dict.fromkeys(getattr(getattr(member, section), key) for member in spec.members))


def test_members_are_the_product_in_the_order_of_the_sections(load):
    spec = load(TEXT)
    assert (spec.name, spec.root_seed) == ("attention-by-seed", 9)
    found = [
        (m.task.name, m.model.architecture, m.train.learning_rate, m.seed) for m in spec.members
    ]
    lists = [["one_to_one", "sort"], ["ved", "aed"], [0.001, 0.003], [5, 3]]
    assert found == list(product(*lists))
    for member in spec.members:
        assert (member.task.min_length, member.train.steps) == (4, 300)
        assert (member.model.hidden_size, member.model.embedding_size) == (64, 16)
        assert member.analysis == AnalysisConfig(methods=("joint",), every=100)


def test_order_is_that_of_the_fields_not_of_the_file(load):
    forward = (
        "[model]\ncell = ['gru', 'lstm']\nhidden_size = [8, 16]\n[train]\nsteps = [1, 2]\n"
        "[[case]]\ntask.min_length = 3\ntask.max_length = 4\nsweep.seeds = 1"
    )
    backward = (
        "[train]\nsteps = [1, 2]\n[model]\nhidden_size = [8, 16]\ncell = ['gru', 'lstm']\n"
        "[[case]]\nsweep.seeds = 1\ntask.max_length = 4\ntask.min_length = 3"
    )
    assert load(forward) == load(backward)
    assert json.dumps(load(forward).document) == json.dumps(load(backward).document)


def test_empty_file_is_the_defaults_named_after_the_file(load):
    spec = load("")
    assert spec.name == "some-sweep"
    assert [member.seed for member in spec.members] == [0, 1, 2, 3]
    member = spec.members[0]
    assert member.model == ModelConfig(embedding_size=64)
    assert (member.train, member.analysis) == (TrainConfig(), AnalysisConfig())
    assert member.task.name == "one_to_one"
    assert hyperparameters(member) == {
        "embedding_scale": 0.1,
        "learning_rate": 0.003,
        "learning_rate_decay": 1.0,
        "weight_decay": 0.0,
        "clip_norm": 1.0,
    }


RANDOM = """
[train]
learning_rate = {log_uniform = [0.001, 0.01]}
weight_decay = [0, 0.1]
[sweep]
combine = "random"
samples = 3
seeds = 2
"""
CASES = """
[train]
steps = [10, 20]
[[case]]
model.architecture = "ved"
model.hidden_size = [32, 64]
sweep.seeds = 1
[[case]]
model.architecture = ["aed", "ao"]
train.steps = 7
analysis.fit = "cross"
"""


@pytest.mark.parametrize("text", [TEXT, RANDOM, CASES, ""])
def test_document_is_json_and_gives_the_spec_back(load, text):
    spec = load(text)
    again = spec_from_document(json.loads(json.dumps(spec.document, allow_nan=False)))
    assert again == spec
    assert again.document == spec.document


def test_files_that_say_the_same_have_equal_documents(load):
    short = load("train.weight_decay = 1\nsweep.seeds = 2\nanalysis.methods = 'both'")
    long = load(
        "[train]\nweight_decay = 1.0\nsteps = 1500\n[sweep]\nseeds = [0, 1]\n"
        "[analysis]\nmethods = ['joint', 'sequential']"
    )
    assert short.document == long.document
    assert json.dumps(short.document) == json.dumps(long.document)


def test_random_draws_vary_slowest_and_seeds_fastest(load):
    spec = load(RANDOM)
    assert len(spec.members) == 3 * 2 * 2
    assert distinct(spec, "train", "weight_decay") == [0.0, 0.1]
    rates = distinct(spec, "train", "learning_rate")
    assert len(rates) == 3
    more = load(RANDOM, "sweep.samples=5")
    assert more.members[: len(spec.members)] == spec.members


def test_zip_crosses_with_seeds(load):
    spec = load(
        "[model]\nhidden_size = [8, 16]\n[train]\nsteps = [100, 200]\n"
        "[sweep]\ncombine = 'zip'\nseeds = 2"
    )
    found = [(m.model.hidden_size, m.train.steps, m.seed) for m in spec.members]
    assert found == [(8, 100, 0), (8, 100, 1), (16, 200, 0), (16, 200, 1)]


def test_cases_are_laid_over_the_rest_in_order(load):
    members = load(CASES).members
    found = [(m.model.architecture, m.model.hidden_size, m.train.steps, m.seed) for m in members]
    first = [("ved", *rest, 0) for rest in product([32, 64], [10, 20])]
    second = [(name, 64, 7, seed) for name, seed in product(["aed", "ao"], range(4))]
    assert found == first + second
    assert {m.analysis.fit for m in members[:4]} == {("in_sample", "cross")}
    assert {m.analysis.fit for m in members[4:]} == {("cross",)}


@pytest.mark.parametrize(
    ("override", "section", "key", "values"),
    [
        ("model.hidden_size=24", "model", "hidden_size", [24]),
        ("model.hidden_size = [24, 8]", "model", "hidden_size", [24, 8]),
        ("task.name=reverse", "task", "name", ["reverse"]),
        ('task.name="reverse"', "task", "name", ["reverse"]),
        ("train.learning_rate=1", "train", "learning_rate", [1.0]),
        ("train.learning_rate=[0.001,0.003]", "train", "learning_rate", [0.001, 0.003]),
        ("analysis.fit=cross", "analysis", "fit", [("cross",)]),
    ],
)
@pytest.mark.parametrize("text", [TEXT, CASES])
def test_overrides_replace_a_setting_in_every_case(load, text, override, section, key, values):
    assert distinct(load(text, override), section, key) == values


def test_overrides_of_seeds_name_and_the_last_of_two(load):
    spec = load(CASES, "name=short", "sweep.seeds=9", "sweep.seeds=[4]")
    assert spec.name == "short"
    assert {member.seed for member in spec.members} == {4}


def test_a_byte_order_mark_is_no_error(load):
    assert load(b"\xef\xbb\xbf[train]\nsteps = 5\n").members[0].train.steps == 5


def test_spec_of_one_is_a_sweep_of_one():
    spec = spec_of_one("sort", "ao", 7, 50, ["model.hidden_size=8"])
    (member,) = spec.members
    assert spec.name == "sort-ao-7"
    assert (member.task.name, member.model.architecture, member.seed) == ("sort", "ao", 7)
    assert (member.train.steps, member.model.hidden_size) == (50, 8)
    assert spec_of_one("sort", "ao", 7, None).members[0].train == TrainConfig()


def test_overriding_changes_no_document():
    document = normalised({"name": "x", "case": [{"train": {"steps": 3}}]})
    before = json.dumps(document)
    assert overridden(document, ["train.steps=6"])["case"] == [{"train": {}}]
    assert json.dumps(document) == before
