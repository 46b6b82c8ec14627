"""What a network's attention looks like, before any split of its states.

The metrics take a batch and the outputs of a network with attention α [N, S, T], and give one
number. A *row* (n, s) counts where step s of sample n is valid; within it, valid t count.
"""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from aedjax.types import Batch, Outputs


def mean_attention_kl(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Mean over rows of KL(α_n ‖ ᾱ) in nats.

    ᾱ_st is the mean of α_st over the samples in which both s and t are valid, renormalised over
    the valid t of sample n. The paper's law: the larger this is, the larger the input-driven share
    of the scores.
    """
    valid = places(batch.decoder_mask, batch.encoder_mask)
    attention = _attention(outputs)
    total = jnp.sum(attention, axis=0, where=valid)
    # Log of sum and count apart: the mean of one tiny α could round to 0.
    log_mean = jnp.log(total) - jnp.log(valid.sum(0).astype(total.dtype))
    of_sample = jnp.sum(jnp.exp(log_mean)[None, :, :], axis=-1, where=valid, keepdims=True)
    return mean_kl(attention, log_mean[None, :, :] - jnp.log(of_sample), valid)


def diagonal_mass(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Mean over rows of the attention on t = s; 0 for a row that has no such t."""
    return _mass_near_diagonal(batch, outputs, 0)


def diagonal_mass_1(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Mean over rows of the attention on |t − s| ≤ 1."""
    return _mass_near_diagonal(batch, outputs, 1)


def alignment_error_rate(batch: Batch, outputs: Outputs) -> Float[Array, ""]:
    """Share of steps whose most attended t is not a true source of the target.

    Steps without a true source are left out.
    """
    valid = places(batch.decoder_mask, batch.encoder_mask)
    assert batch.alignment is not None
    gold = batch.alignment & valid
    attention = jnp.where(valid, _attention(outputs), -jnp.inf)
    hit = jnp.take_along_axis(gold, attention.argmax(-1)[:, :, None], axis=-1)[:, :, 0]
    missed = jnp.where(jnp.isnan(attention.max(-1)), jnp.nan, 1 - hit)
    return jnp.mean(missed, where=gold.any(-1))


def places(
    decoder_mask: Bool[Array, "N S"], encoder_mask: Bool[Array, "N T"]
) -> Bool[Array, "N S T"]:
    """True where both positions are valid."""
    return decoder_mask[:, :, None] & encoder_mask[:, None, :]


def mean_kl(
    attention: Float[Array, "N S T"],
    log_other: Float[Array, "N S T"],
    valid: Bool[Array, "N S T"],
) -> Float[Array, ""]:
    """Mean over rows of KL(α ‖ p) = Σ_t α_t (log α_t − log p_t) in nats, log p = `log_other`.

    α_t = 0 contributes 0, whatever p_t.
    """
    nothing = (attention == 0) | ~valid
    each = jnp.where(nothing, 0, attention * (jnp.log(attention) - log_other))
    return jnp.mean(each.sum(-1), where=valid.any(-1))


def _attention(outputs: Outputs) -> Float[Array, "N S T"]:
    assert outputs.states.attention is not None
    return outputs.states.attention


def _mass_near_diagonal(batch: Batch, outputs: Outputs, distance: int) -> Float[Array, ""]:
    valid = places(batch.decoder_mask, batch.encoder_mask)
    _, steps, positions = valid.shape
    off = jnp.abs(jnp.arange(positions)[None, :] - jnp.arange(steps)[:, None])
    near = valid & (off <= distance)[None, :, :]
    mass = jnp.sum(_attention(outputs), axis=-1, where=near)
    return jnp.mean(mass, where=valid.any(-1))
