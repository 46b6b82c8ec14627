"""What `decompose` and `fit` refuse, and in which words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.analysis import decompose, fit
from aedjax.errors import InputError
from tests.analysis.test_decomposition import VOCABULARY, random_data


def good():
    states, words, mask = random_data(8)
    return {"states": np.float32(states), "words": words, "mask": mask | True}


BAD = {
    "mask of another shape": (
        lambda a: a | {"mask": a["mask"][:, :-1]},
        r"mask has shape \(7, 4\); use \(7, 5\)",
    ),
    "fit_mask of another shape": (
        lambda a: a | {"fit_mask": a["mask"][:-1]},
        r"fit_mask has shape \(6, 5\); use \(7, 5\)",
    ),
    "words of another shape": (lambda a: a | {"words": a["words"].T}, r"words has shape \(5, 7\)"),
    "states of one sample": (
        lambda a: a | {"states": a["states"][0]},
        r"states has shape \(5, 3\); use \[samples, positions, units\]",
    ),
    "whole-number states": (
        lambda a: a | {"states": a["states"].astype(int)},
        "states has type int32; use floating point",
    ),
    "number mask": (lambda a: a | {"mask": a["mask"] * 1.0}, "mask has type float64; use true or"),
    "number words": (
        lambda a: a | {"words": a["words"] * 1.0},
        "words has type float64; use whole",
    ),
    "negative id": (lambda a: a | {"words": a["words"] - 9}, "words has the id -9; use ids from 0"),
    "id out of range": (
        lambda a: a | {"words": a["words"] * 0 + 8, "vocabulary": 8},
        "words has the id 8; use ids below vocabulary = 8",
    ),
    "id that no integer of the device holds": (
        lambda a: a | {"words": a["words"].astype(np.int64) * 0 + 2**40},
        r"words has the id 1099511627776; use ids below 16,777,216",
    ),
    "no vocabulary": (
        lambda a: a | {"vocabulary": 0},
        "vocabulary = 0 is no number of words; use 1 or more",
    ),
    "words that are text": (lambda a: a | {"words": [["a"] * 5] * 7}, "words has type <U1; use"),
    "unknown method": (lambda a: a | {"method": "jiont"}, "did you mean 'joint'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_came_and_what_to_do(case):
    change, message = BAD[case]
    with pytest.raises(InputError, match=message):
        decompose(**change(good()))


def test_under_jit_the_vocabulary_must_be_given():
    arguments = good()
    with pytest.raises(InputError, match="vocabulary = None under jit"):
        jax.jit(decompose)(**arguments)


def test_fit_names_an_unknown_method():
    states, words, mask = good().values()
    with pytest.raises(InputError, match="method = 'mean' is unknown"):
        fit(jnp.asarray(states), jnp.asarray(words), jnp.asarray(mask), "mean", VOCABULARY)


def test_an_id_out_of_range_under_jit_gives_nan_rather_than_another_word():
    states, words, mask = good().values()
    words = np.where(words == words[0, 0], VOCABULARY, words)
    parts = jax.jit(lambda words: decompose(states, words, mask, vocabulary=VOCABULARY))(words)
    assert np.isnan(parts.input[0, 0]).all()


def test_lists_are_arrays_too():
    arguments = good()
    lists = {name: array.tolist() for name, array in arguments.items()}
    for part, expected in zip(decompose(**lists), decompose(**arguments), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-6)
