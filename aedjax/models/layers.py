"""The blocks that architectures are made of: a recurrence, a feed-forward map, two readouts."""

from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from aedjax.models.attention import attend, sinusoids
from aedjax.models.cells import CELLS, Carry, CellWeights
from aedjax.models.config import ModelConfig

fan_in = nn.initializers.variance_scaling(1.0, "fan_in", "normal")
unit_normal = nn.initializers.normal(1.0)


class Memory(NamedTuple):
    """What the decoder knows of the input: its states, which are valid, the last valid carry."""

    states: Float[Array, "N T H"]
    mask: Bool[Array, "N T"]
    carry: Carry


def orthogonal_blocks(key: Array, shape: tuple[int, int]) -> Float[Array, "H GH"]:
    """A recurrent kernel [H, G·H]: a random orthogonal matrix for every gate, side by side.

    Gram-Schmidt on normal vectors, each projection done twice, which keeps the columns orthogonal
    to rounding; the result is uniform over the orthogonal group (Mezzadri 2007, Notices of the
    AMS 54). LAPACK's QR would do, but batches of it wait for each other for ever where several
    CPU devices share a thread pool (seen with jaxlib 0.10.2).
    """
    size, gates = shape[0], shape[1] // shape[0]

    def add_column(done: Float[Array, "G H H"], k: Int[Array, ""]):
        column = jax.lax.dynamic_index_in_dim(normal, k, axis=2, keepdims=False)
        for _ in range(2):  # columns k and later of `done` are still zero
            along = jnp.einsum("ghk,gh->gk", done, column, precision="highest")
            column = column - jnp.einsum("ghk,gk->gh", done, along, precision="highest")
        column = column / jnp.linalg.norm(column, axis=1, keepdims=True)
        return jax.lax.dynamic_update_index_in_dim(done, column[:, :, None], k, axis=2), None

    normal = jax.random.normal(key, (gates, size, size))
    kernels, _ = jax.lax.scan(add_column, jnp.zeros_like(normal), jnp.arange(size))
    return kernels.swapaxes(0, 1).reshape(shape)


class Recurrence(nn.Module):
    """A recurrent network over words: h_t = F(W e(x_t) + b, h_{t−1}), h_0 = 0."""

    config: ModelConfig
    vocabulary: int

    def setup(self) -> None:
        cell, size = CELLS[self.config.cell], self.config.hidden_size
        embedding_size = self.config.embedding_size or size
        self.embedding = self.param("embedding", unit_normal, (self.vocabulary, embedding_size))
        self.input_kernel = self.param("input_kernel", fan_in, (embedding_size, cell.gates * size))
        self.input_bias = self.param(
            "input_bias", lambda _, n: jnp.repeat(jnp.array(cell.input_bias), n), size
        )
        self.recurrent_kernel = self.param(
            "recurrent_kernel", orthogonal_blocks, (size, cell.gates * size)
        )
        self.candidate_bias = (
            self.param("candidate_bias", nn.initializers.zeros, (size,))
            if cell.has_candidate_bias
            else jnp.zeros((size,), self.recurrent_kernel.dtype)
        )

    def initial(self, samples: int) -> Carry:
        """The carry before the first word: zeros."""
        zero = jnp.zeros((samples, self.config.hidden_size), self.recurrent_kernel.dtype)
        return (zero,) * CELLS[self.config.cell].carries

    def __call__(
        self, words: Int[Array, "N T"], mask: Bool[Array, "N T"], carry: Carry
    ) -> tuple[Float[Array, "N T H"], Carry]:
        """All states, and the carry after the last valid word (padding leaves it as it was)."""
        step = CELLS[self.config.cell].step
        weights = CellWeights(self.recurrent_kernel, self.candidate_bias)
        table = self.embedding @ self.input_kernel + self.input_bias[None, :]

        def advance(carry: Carry, inputs):
            x, valid = inputs
            new = step(weights, x, carry)
            kept = tuple(jnp.where(valid[:, None], a, b) for a, b in zip(new, carry, strict=True))
            return kept, kept[0]

        carry, states = jax.lax.scan(advance, carry, (table[words.T], mask.T))
        return states.swapaxes(0, 1), carry


class FeedForward(nn.Module):
    """States without recurrence: h_t = tanh(W (e(x_t) + p_t) + b), p the sinusoids."""

    config: ModelConfig
    vocabulary: int

    def setup(self) -> None:
        size = self.config.hidden_size
        embedding_size = self.config.embedding_size or size
        self.embedding = self.param("embedding", unit_normal, (self.vocabulary, embedding_size))
        self.input_kernel = self.param("input_kernel", fan_in, (embedding_size, size))
        self.input_bias = self.param("input_bias", nn.initializers.zeros, (size,))

    def __call__(self, words: Int[Array, "N T"], position: Int[Array, ""] | int = 0):
        """The states of words that stand at `position`, `position` + 1, ..."""
        encoding = sinusoids(words.shape[1], self.embedding.shape[1], position)
        by_word = self.embedding @ self.input_kernel
        by_position = encoding.astype(by_word.dtype) @ self.input_kernel + self.input_bias[None, :]
        return jnp.tanh(by_word[words] + by_position[None, :, :])


class Attention(nn.Module):
    """The attention of DESIGN's AED and AO; "learned" adds projections without bias."""

    config: ModelConfig

    def setup(self) -> None:
        if self.config.attention == "learned":
            shape = (self.config.hidden_size, self.config.hidden_size)
            self.query_kernel = self.param("query_kernel", fan_in, shape)
            self.key_kernel = self.param("key_kernel", fan_in, shape)
            self.value_kernel = self.param("value_kernel", fan_in, shape)

    def __call__(self, decoder: Float[Array, "N S H"], memory: Memory) -> dict[str, Array]:
        """The attention fields of `States`, by name."""
        query, key, value = decoder, memory.states, memory.states
        if self.config.attention == "learned":
            query, key, value = (
                query @ self.query_kernel,
                key @ self.key_kernel,
                value @ self.value_kernel,
            )
        scores, attention, context = attend(query, key, value, memory.mask)
        return {
            "query": query,
            "key": key,
            "value": value,
            "scores": scores,
            "attention": attention,
            "context": context,
        }
