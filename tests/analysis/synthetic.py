"""Random batches and outputs of no network in particular."""

import jax
import numpy as np

from aedjax.types import BOS, EOS, FIRST_WORD, PAD, Batch, Outputs, States

VOCABULARY = 8


def words_of(rng: np.random.Generator, lengths: np.ndarray, width: int) -> np.ndarray:
    """Random words, EOS at the given lengths (EOS counted), padded to `width`."""
    words = rng.integers(FIRST_WORD, VOCABULARY, (len(lengths), width))
    place = np.arange(width)[None, :]
    words = np.where(place < lengths[:, None] - 1, words, PAD)
    return np.where(place == lengths[:, None] - 1, EOS, words)


def make_batch(rng: np.random.Generator, samples=10, positions=5, steps=6) -> Batch:
    """A batch of every length from 1, with an alignment for about half of the steps."""
    encoder = words_of(rng, rng.permutation(np.arange(samples) % positions + 1), positions)
    targets = words_of(rng, rng.permutation(np.arange(samples) % steps + 1), steps)
    decoder = np.concatenate([np.full((samples, 1), BOS), targets[:, :-1]], axis=1)
    decoder = np.where(targets != PAD, decoder, PAD)
    gold = rng.random((samples, steps, positions)) < 0.3
    gold &= (targets != PAD)[:, :, None] & (encoder != PAD)[:, None, :]
    return Batch(encoder, decoder, targets, gold)


def make_outputs(rng: np.random.Generator, batch: Batch, units=3, learned=False) -> Outputs:
    """Random states with their scores and attention; garbage wherever a position is padded."""
    steps, positions = batch.targets != PAD, batch.encoder_words != PAD
    encoder = rng.normal(size=(*positions.shape, units)) + rng.normal(size=units)
    decoder = rng.normal(size=(*steps.shape, units)) + rng.normal(size=units)
    query, key = decoder, encoder
    if learned:
        query, key = (x @ rng.normal(size=(units, units)) for x in (decoder, encoder))
    scores = np.einsum("nsh,nth->nst", query, key)
    attention = np.where(positions[:, None, :], np.exp(scores), 0)
    attention /= attention.sum(-1, keepdims=True)
    context = np.einsum("nst,nth->nsh", attention, key)
    logits = rng.normal(size=(*steps.shape, VOCABULARY))
    right = np.eye(VOCABULARY)[batch.targets]
    logits += 3 * right * (rng.random(len(logits)) < 0.5)[:, None, None]
    encoder, key = (np.where(positions[:, :, None], x, 1e3) for x in (encoder, key))
    return Outputs(logits, States(encoder, decoder, query, key, key, scores, attention, context))


def without_attention(outputs: Outputs) -> Outputs:
    """The same network, had it none."""
    return outputs._replace(states=States(outputs.states.encoder, outputs.states.decoder))


def device(tree, dtype=np.float32):
    """NumPy arrays as JAX arrays, floats as `dtype`."""

    def one(leaf):
        return jax.numpy.asarray(leaf, dtype if np.issubdtype(leaf.dtype, np.floating) else None)

    return jax.tree.map(one, tree)
