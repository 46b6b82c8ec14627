"""How well a network does its task, teacher-forced.

Functions take a batch and the network's outputs for it, and give one number. Only valid steps
(n, s) count: those with a target, the closing EOS among them.
"""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from aedjax.losses import cross_entropy
from aedjax.types import Batch, Outputs


def loss(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Mean cross-entropy −log p(target) over valid steps, in nats."""
    return cross_entropy(outputs.logits, batch.targets, batch.decoder_mask)


def token_accuracy(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Share of valid steps whose largest logit, of all words, is the target's."""
    return jnp.mean(_right(batch, outputs), where=batch.decoder_mask)


def sequence_accuracy(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Share of samples that have every valid step right.

    This is also the share that greedy decoding gets right: as long as it has made no error, what
    it reads is what teacher forcing reads, so by induction one is all right where the other is.
    """
    whole = jnp.all(_right(batch, outputs) | ~batch.decoder_mask, axis=1)
    return jnp.mean(whole, where=batch.decoder_mask.any(1))


def _right(batch: Batch, outputs: Outputs) -> Bool[Array, "N S"]:
    return jnp.argmax(outputs.logits, axis=-1) == batch.targets
