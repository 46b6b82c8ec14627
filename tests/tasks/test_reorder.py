"""one_to_one, reverse and sort against loops in plain Python."""

import hashlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.tasks import TaskConfig, make_task
from aedjax.tasks.reorder import ORDERS, letters
from aedjax.types import EOS, FIRST_WORD
from tests.tasks.conftest import on_host

WIDTH = 9
REFERENCE = {
    "one_to_one": lambda words: list(range(len(words))),
    "reverse": lambda words: list(range(len(words)))[::-1],
    "sort": lambda words: sorted(range(len(words)), key=lambda t: (words[t], t)),
}


@pytest.mark.parametrize("name", ORDERS)
@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.integers(FIRST_WORD, FIRST_WORD + 3), min_size=1, max_size=WIDTH - 1))
def test_an_order_is_the_reference_order_then_identity(name, words):
    padded = np.zeros(WIDTH, np.int32)
    padded[: len(words) + 1] = [*words, EOS]
    order = np.asarray(ORDERS[name](jnp.asarray(padded), jnp.int32(len(words))))
    np.testing.assert_array_equal(order[: len(words)], REFERENCE[name](words))
    np.testing.assert_array_equal(order[len(words) :], np.arange(len(words), WIDTH))


@pytest.mark.parametrize("name", ORDERS)
def test_batches_hold_the_reference_alignment(name):
    batch = on_host(make_task(TaskConfig(name=name, min_length=2, max_length=8)).test(64))
    for words, targets, alignment in zip(
        batch.encoder_words, batch.targets, batch.alignment, strict=True
    ):
        length = int(np.argmax(words == EOS))
        sources = REFERENCE[name](list(words[:length]))
        expected = np.zeros_like(alignment)
        expected[range(length + 1), [*sources, length]] = True
        np.testing.assert_array_equal(alignment, expected)
        np.testing.assert_array_equal(targets[:length], words[sources])


def test_words_are_uniform_and_independent_of_their_place():
    task = make_task(TaskConfig(num_words=3, min_length=6, max_length=6))
    words = np.asarray(task.sample(jax.random.key(5), 6000).encoder_words)[:, :6] - FIRST_WORD
    counts = np.stack([np.bincount(column, minlength=3) for column in words.T])
    assert counts.shape == (6, 3)
    assert np.all(np.abs(counts - 2000) < 4 * np.sqrt(6000 * 2 / 9))
    pairs = np.bincount(3 * words[:, 0] + words[:, 1], minlength=9)
    assert np.all(np.abs(pairs - 6000 / 9) < 4 * np.sqrt(6000 * 8 / 81))


def test_letters_name_a_thousand_words_differently():
    names = [letters(i) for i in range(1000)]
    assert len(set(names)) == 1000
    assert names == sorted(names, key=lambda name: (len(name), name))
    assert (names[0], names[25], names[26], names[51], names[52]) == ("a", "z", "aa", "az", "ba")


def test_the_test_set_is_the_same_everywhere():
    words = np.asarray(make_task(TaskConfig()).test(512).encoder_words)
    digest = hashlib.sha256(words.astype("<i4").tobytes()).hexdigest()[:16]
    assert digest == "b4d95b2cff4e05e6"
