"""Pairs of an input and its target, with the source of every target word: half of a batch."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from aedjax.types import BOS, EOS, PAD, Batch

NO_SOURCE = -1
"""The source of a target without a true alignment, and of padding."""


class Pairs(NamedTuple):
    """One pair, or a stack of them along leading axes.

    `sources[s]` is the encoder position t that target s comes from, or `NO_SOURCE`; None where
    the task knows no alignment.
    """

    encoder_words: Int[Array | np.ndarray, "*N T"]
    targets: Int[Array | np.ndarray, "*N S"]
    sources: Int[Array | np.ndarray, "*N S"] | None


def ended(
    values: Int[Array, " T"], length: Int[Array, ""], end: Int[Array, ""] | int, pad: int
) -> Int[Array, " T"]:
    """The first `length` values, then `end` once, then `pad`; length < T."""
    position = jnp.arange(values.shape[0], dtype=jnp.int32)
    tail = jnp.where(position == length, end, pad)
    return jnp.where(position < length, values, tail).astype(jnp.int32)


def sentence(words: Int[Array, " T"], length: Int[Array, ""]) -> Int[Array, " T"]:
    """The first `length` words, `EOS`, and padding."""
    return ended(words, length, EOS, PAD)


def as_batch(pairs: Pairs) -> Batch:
    """The batch of N stacked pairs: the decoder reads `BOS`, then its targets but the last."""
    encoder_words, targets = jnp.asarray(pairs.encoder_words), jnp.asarray(pairs.targets)
    before = jnp.concatenate([jnp.full_like(targets[:, :1], BOS), targets[:, :-1]], axis=1)
    decoder_words = jnp.where(targets != PAD, before, PAD)
    if pairs.sources is None:
        return Batch(encoder_words, decoder_words, targets, None)
    position = jnp.arange(encoder_words.shape[1], dtype=jnp.int32)
    alignment = jnp.asarray(pairs.sources)[:, :, None] == position[None, None, :]
    return Batch(encoder_words, decoder_words, targets, alignment)
