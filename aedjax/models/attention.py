"""Attention: scores, their softmax over valid positions, and the context they pick."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

ATTENTIONS = ("dot", "learned")
"""dot: query and key are the states; learned: they are Q h and K h, and the value is V h."""


def attend(
    query: Float[Array, "N S H"],
    key: Float[Array, "N T H"],
    value: Float[Array, "N T H"],
    mask: Bool[Array, "N T"],
) -> tuple[Float[Array, "N S T"], Float[Array, "N S T"], Float[Array, "N S H"]]:
    """Scores, attention and context of every decoder position.

    a_st = q_s · k_t (unscaled), α_st = exp(a_st) / Σ_t' exp(a_st') over t' with `mask`, 0
    elsewhere, and c_s = Σ_t α_st v_t.

    Source: Luong et al. 2015, arXiv 1508.04025 (dot score), as in the paper.
    """
    # Accelerators round the factors of a float32 product unless told not to: then the scores are
    # not the sum of the nine terms that the analysis makes of the same queries and keys.
    scores = jnp.einsum("nsh,nth->nst", query, key, precision=jax.lax.Precision.HIGHEST)
    attention = masked_softmax(scores, mask[:, None, :])
    context = jnp.einsum("nst,nth->nsh", attention, value, precision=jax.lax.Precision.HIGHEST)
    return scores, attention, context


def masked_softmax(scores: Float[Array, "N S T"], mask: Bool[Array, "N #S T"]):
    """Softmax over the last axis where `mask`, 0 elsewhere; uniform shifts cancel."""
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)


def sinusoids(positions: int, size: int, first: Int[Array, ""] | int = 0) -> Float[Array, "T E"]:
    """The positional encoding p of `positions` places from place `first` on (places count from 0).

    p[t, 2i] = sin(t / 10000^(2i/E)), p[t, 2i + 1] = cos(t / 10000^(2i/E)).

    Source: Vaswani et al. 2017, arXiv 1706.03762.
    """
    rates = 10000.0 ** (-2 * (jnp.arange(size) // 2) / size)
    angles = (first + jnp.arange(positions))[:, None] * rates[None, :]
    return jnp.where((jnp.arange(size) % 2 == 0)[None, :], jnp.sin(angles), jnp.cos(angles))
