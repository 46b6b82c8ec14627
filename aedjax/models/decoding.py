"""Greedy decoding: the network reads its own words."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from aedjax.models import Model, Params
from aedjax.types import BOS, EOS, PAD


def greedy(
    model: Model, params: Params, encoder_words: Int[Array, "N T"], steps: int
) -> Int[Array, "N steps"]:
    """The most likely word at every step, fed back as the next input; `PAD` after `EOS`.

    `steps` is the most words to write, twice the longest target by convention.
    """
    memory = model.encode(params, encoder_words)

    def write(state, position):
        word, done, carry = state
        logits, carry = model.step(params, memory, carry, word, position)
        word = jnp.where(done, PAD, jnp.argmax(logits, axis=-1))
        return (word, done | (word == EOS), carry), word

    first = jnp.full(encoder_words.shape[0], BOS)
    start = (first, jnp.zeros(first.shape, bool), memory.carry)
    _, words = jax.lax.scan(write, start, jnp.arange(steps))
    return words.T
