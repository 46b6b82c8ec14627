"""Halving the samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.analysis.evaluation import halves
from tests.analysis.synthetic import device, make_batch


@pytest.mark.parametrize("samples", [1, 2, 7, 64])
def test_halves_are_halves(samples):
    first, second = halves(device(make_batch(np.random.default_rng(0), samples)))
    assert (first ^ second).all()
    assert first.sum() - second.sum() == samples % 2


def test_a_sample_stays_in_its_half_when_samples_are_shuffled_or_padded():
    rng = np.random.default_rng(1)
    batch = make_batch(rng, 64)._replace(alignment=None)
    _, kept = np.unique(np.hstack([batch.encoder_words, batch.targets]), axis=0, return_index=True)
    batch = jax.tree.map(lambda leaf: leaf[kept], batch)
    order = rng.permutation(len(kept))
    first, _ = halves(device(batch))
    shuffled, _ = halves(device(jax.tree.map(lambda leaf: leaf[order], batch)))
    np.testing.assert_array_equal(shuffled, first[order])
    wider = jax.tree.map(lambda leaf: jnp.pad(leaf, ((0, 0), (0, 3))), batch)
    np.testing.assert_array_equal(halves(device(wider))[0], first)


def test_every_word_matters_and_so_does_its_place():
    batch = make_batch(np.random.default_rng(2), 64)
    first, _ = halves(device(batch))
    for changed in (
        batch._replace(encoder_words=np.where(batch.encoder_words == 5, 6, batch.encoder_words)),
        batch._replace(targets=np.where(batch.targets == 5, 6, batch.targets)),
        batch._replace(encoder_words=batch.encoder_words[:, ::-1]),
        batch._replace(encoder_words=batch.targets, targets=batch.encoder_words),
    ):
        assert (halves(device(changed))[0] != first).any()


def test_words_do_not_decide_the_half():
    """Each word occurs in both halves about equally often: a parity of ids would not do."""
    batch = make_batch(np.random.default_rng(3), 2000)
    first, _ = map(np.asarray, halves(device(batch)))
    words = np.asarray(batch.encoder_words)
    for word in (4, 5, 6, 7):
        for place in range(3):
            has = words[:, place] == word
            assert abs(first[has].mean() - 0.5) < 5 * 0.5 / np.sqrt(has.sum())
