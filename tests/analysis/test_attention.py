"""Metrics of attention where the answer can be worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.analysis import attention as metrics
from aedjax.types import BOS, EOS, PAD, Batch, Outputs, States

WORDS = np.array([[4, 5, 6, EOS], [4, 5, EOS, PAD], [5, EOS, PAD, PAD], [EOS, PAD, PAD, PAD]])
VALID = WORDS != PAD
PLACES = VALID[:, :, None] & VALID[:, None, :]
LENGTHS = VALID.sum(1)


def case(attention, alignment=None):
    """Four samples of lengths 4..1 with this attention, source and target of the same length."""
    words = jnp.asarray(WORDS)
    decoder = jnp.asarray(np.where(VALID, BOS, PAD))
    gold = None if alignment is None else jnp.asarray(alignment)
    states = jnp.zeros((4, 4, 2))
    weights = jnp.asarray(attention, jnp.float32)
    outputs = States(states, states, states, states, states, weights, weights, states)
    return Batch(words, decoder, words, gold), Outputs(jnp.zeros((4, 4, 8)), outputs)


DIAGONAL = np.where(PLACES, np.eye(4)[None], 0)
UNIFORM = np.where(PLACES, 1 / LENGTHS[:, None, None], 0)
FIRST = np.where(PLACES, np.arange(4)[None, None, :] == 0, 0)


@pytest.mark.parametrize(
    ("attention", "on", "near"),
    [
        (DIAGONAL, 1, 1),
        (UNIFORM, 4 / 10, (1 + 2 + 7 / 3 + 10 / 4) / 10),
        (FIRST, 4 / 10, 7 / 10),
    ],
    ids=["diagonal", "uniform", "first"],
)
def test_diagonal_mass(attention, on, near):
    np.testing.assert_allclose(metrics.diagonal_mass(*case(attention)), on, rtol=1e-6)
    np.testing.assert_allclose(metrics.diagonal_mass_1(*case(attention)), near, rtol=1e-6)


def test_a_row_beyond_the_input_has_no_diagonal():
    batch, outputs = case(FIRST)
    one_word = jnp.where(batch.encoder_words[:, :1] == PAD, PAD, 4)
    short = batch._replace(encoder_words=jnp.pad(one_word, ((0, 0), (0, 3))))
    np.testing.assert_allclose(metrics.diagonal_mass(short, outputs), 4 / 10, rtol=1e-6)
    np.testing.assert_allclose(metrics.diagonal_mass_1(short, outputs), 7 / 10, rtol=1e-6)


@pytest.mark.parametrize("attention", [DIAGONAL, FIRST, UNIFORM], ids=["diagonal", "first", "all"])
def test_equal_attention_is_no_further_from_its_mean_than_length_makes_it(attention):
    found = metrics.mean_attention_kl(*case(attention))
    if attention is UNIFORM:
        # ᾱ_st falls with t, for only long samples reach late t; renormalised it is not uniform.
        assert 0 < found < 0.1
    else:
        np.testing.assert_allclose(found, 0, atol=1e-6)


def test_mean_attention_kl_of_two_ways_to_attend_is_log_2():
    attention = np.zeros((4, 4, 4))
    attention[:2, :2, 0], attention[:2, :2, 1] = [[1], [0]], [[0], [1]]
    batch, outputs = case(attention)
    two = jnp.where((jnp.arange(4) < 2)[:, None] & (jnp.arange(4) < 2)[None, :], 4, PAD)
    batch = batch._replace(encoder_words=two, targets=two)
    np.testing.assert_allclose(metrics.mean_attention_kl(batch, outputs), np.log(2), rtol=1e-6)


def test_mean_attention_kl_of_very_small_attention_is_finite():
    tiny = np.where(PLACES, 1e-37, 0)
    tiny[:, :, 0] = np.where(PLACES[:, :, 0], 1, 0)
    assert np.isfinite(metrics.mean_attention_kl(*case(tiny)))


def test_mean_kl_of_0_attention_is_0_even_where_the_other_is_0():
    attention = jnp.asarray([[[0.5, 0.5, 0.0]]])
    other = jnp.log(jnp.asarray([[[0.25, 0.75, 0.0]]]))
    wanted = 0.5 * np.log(2) + 0.5 * np.log(2 / 3)
    found = metrics.mean_kl(attention, other, jnp.ones((1, 1, 3), bool))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_mean_kl_of_nan_attention_is_nan():
    attention = jnp.full((1, 1, 3), jnp.nan)
    everywhere = jnp.ones((1, 1, 3), bool)
    assert np.isnan(metrics.mean_kl(attention, jnp.zeros((1, 1, 3)), everywhere))


GOLD = np.where(PLACES, np.eye(4, dtype=bool)[None], False)


@pytest.mark.parametrize(
    ("attention", "alignment", "rate"),
    [
        (DIAGONAL, GOLD, 0),
        (FIRST, GOLD, 6 / 10),
        (FIRST, GOLD & (np.arange(4) != 1)[None, :, None], 3 / 7),
        (FIRST, PLACES & (np.arange(4) < 2)[None, None, :], 0),
        (FIRST, PLACES & (np.arange(4) > 0)[None, None, :], 1),
    ],
    ids=["right", "wrong", "steps without gold", "any gold counts", "none right"],
)
def test_alignment_error_rate(attention, alignment, rate):
    found = metrics.alignment_error_rate(*case(attention, alignment))
    np.testing.assert_allclose(found, rate, atol=1e-6)


def test_alignment_error_rate_of_nan_attention_is_nan():
    assert np.isnan(metrics.alignment_error_rate(*case(DIAGONAL * np.nan, GOLD)))
