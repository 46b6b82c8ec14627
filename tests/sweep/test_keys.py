"""Keys: what each depends on, and nothing else."""

from dataclasses import replace

import jax
import jaxtyping
import numpy as np
import pytest

from aedjax.models.config import ModelConfig
from aedjax.sweep.identity import stable_id, stable_words
from aedjax.sweep.keys import data_key, init_key, member_keys
from aedjax.sweep.spec import spec_from_document
from aedjax.tasks.base import TaskConfig

TASK = TaskConfig("one_to_one", num_words=3)
MODEL = ModelConfig("aed", hidden_size=8)


def bits(key) -> list:
    return jax.random.key_data(key).tolist()


def keys_of(document: dict) -> dict:
    """Data and initialisation key of every member, by what the member is."""
    spec = spec_from_document({"name": "keys", **document})
    keys = member_keys(spec.members, spec.root_seed)
    pairs = zip(bits(keys.data), bits(keys.init), strict=True)
    return dict(zip(spec.members, pairs, strict=True))


def test_words_and_ids_begin_the_sha256_of_the_json():
    """SHA-256 of '["data",1]' as coreutils has it."""
    assert stable_words("data", 1) == (0xC418A990, 0x765033DC)
    assert stable_id("data", 1) == "c418a990765033dc"
    assert stable_id({"a": 1, "b": 2}) == stable_id({"b": 2, "a": 1})


def test_a_million_ids_do_not_collide(monkeypatch):
    # Checking the types of a million calls would take three times as long as the calls.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    ids = {stable_id("member", seed) for seed in range(1_000_000)}
    assert len(ids) == 1_000_000


def test_key_is_the_root_with_two_words_folded_in():
    first, second = stable_words(
        "init", 5, {"architecture": "ao", "attention": "dot", "hidden_size": 8, "embedding_size": 8}
    )
    root = jax.random.key(3)
    expected = jax.random.fold_in(jax.random.fold_in(root, first), second)
    assert bits(init_key(3, 5, ModelConfig("ao", hidden_size=8))) == bits(expected)


DATA_CHANGES = {
    "root_seed": (1, 0, TASK),
    "seed": (0, 1, TASK),
    "task": (0, 0, replace(TASK, name="sort")),
    "num_words": (0, 0, replace(TASK, num_words=4)),
    "max_length": (0, 0, replace(TASK, max_length=14)),
}
INIT_CHANGES = {
    "root_seed": (1, 0, MODEL),
    "seed": (0, 1, MODEL),
    "architecture": (0, 0, replace(MODEL, architecture="ved")),
    "cell": (0, 0, replace(MODEL, cell="lstm")),
    "attention": (0, 0, replace(MODEL, attention="learned")),
    "hidden_size": (0, 0, replace(MODEL, hidden_size=16, embedding_size=8)),
    "embedding_size": (0, 0, replace(MODEL, embedding_size=4)),
}
UNCHANGED = {
    "unused task field": (data_key, TASK, replace(TASK, max_phrase_actions=2)),
    "embedding_scale": (init_key, MODEL, replace(MODEL, embedding_scale=1.0)),
    "embedding_size by default": (init_key, MODEL, replace(MODEL, embedding_size=8)),
    "cell of ao": (
        init_key,
        ModelConfig("ao"),
        ModelConfig("ao", cell="lstm"),
    ),
    "attention of ved": (
        init_key,
        ModelConfig("ved"),
        ModelConfig("ved", attention="learned"),
    ),
}


@pytest.mark.parametrize("what", DATA_CHANGES)
def test_data_key_depends_on(what):
    assert bits(data_key(*DATA_CHANGES[what])) != bits(data_key(0, 0, TASK))


@pytest.mark.parametrize("what", INIT_CHANGES)
def test_init_key_depends_on(what):
    assert bits(init_key(*INIT_CHANGES[what])) != bits(init_key(0, 0, MODEL))


@pytest.mark.parametrize("what", UNCHANGED)
def test_key_does_not_depend_on(what):
    key, one, other = UNCHANGED[what]
    assert one != other
    assert bits(key(0, 0, one)) == bits(key(0, 0, other))


def test_member_keys_are_the_keys_of_the_members():
    spec = spec_from_document(
        {
            "name": "keys",
            "model": {"architecture": ["ved", "ao"]},
            "sweep": {"seeds": [4, 9], "root_seed": 7},
        }
    )
    keys = member_keys(spec.members, spec.root_seed)
    assert keys.data.shape == keys.init.shape == (4,)
    for place, member in enumerate(spec.members):
        assert bits(keys.data[place]) == bits(data_key(7, member.seed, member.task))
        assert bits(keys.init[place]) == bits(init_key(7, member.seed, member.model))


def test_one_seed_shares_data_across_architectures_and_start_across_settings():
    keys = keys_of(
        {
            "model": {"architecture": ["ved", "aed"], "embedding_scale": [0.1, 1.0]},
            "train": {"learning_rate": [0.001, 0.003], "batch_size": [8, 16]},
            "sweep": {"seeds": 3},
        }
    )
    data, init = zip(*keys.values(), strict=True)
    assert len(np.unique(data, axis=0)) == 3
    assert len(np.unique(init, axis=0)) == 3 * 2
    for seed in range(3):
        assert len({str(data) for m, (data, _) in keys.items() if m.seed == seed}) == 1


def test_data_and_initialisation_are_independent():
    data, init = zip(*keys_of({"sweep": {"seeds": 50}}).values(), strict=True)
    assert len(np.unique([*data, *init], axis=0)) == 100


SMALL = {"train": {"learning_rate": [0.001, 0.003]}, "sweep": {"seeds": [0, 1]}}
GROWN = {
    "a seed": SMALL | {"sweep": {"seeds": [2, 0, 1]}},
    "a learning rate": SMALL | {"train": {"learning_rate": [0.01, 0.001, 0.003]}},
    "an architecture": SMALL | {"model": {"architecture": ["ao", "aed"]}},
    "a case": {"case": [{"task": {"name": "sort"}}, SMALL]},
}


@pytest.mark.parametrize("what", GROWN)
def test_adding_members_changes_no_other_key(what):
    small, grown = keys_of(SMALL), keys_of(GROWN[what])
    assert len(grown) > len(small)
    assert {member: grown[member] for member in small} == small
