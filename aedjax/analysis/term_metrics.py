"""How the nine terms of the scores make the attention: shares, and attention from a few terms."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aedjax.analysis.attention import mean_kl, places
from aedjax.analysis.evaluation import Evaluation
from aedjax.types import PARTS

TERMS = len(PARTS) ** 2
FIXED_SUBSETS = {
    "temporal_temporal": np.arange(TERMS) == 0,
    "without_temporal_temporal": np.arange(TERMS) != 0,
}
"""Subsets of the terms by name, each true at 3 × decoder part + encoder part."""

SUBSETS = (*FIXED_SUBSETS, *(f"first_{count}" for count in range(1, TERMS + 1)))
"""The subsets of `alignment_kl`; first_k has the k terms of largest centred share."""


def share(evaluation: Evaluation) -> Float[Array, "3 3 kind"]:
    """Raw, centred and variance share of each term (see `aedjax.analysis.shares`)."""
    _, *shares = evaluation.attribution
    return jnp.stack(shares, axis=-1)


def term_order(evaluation: Evaluation) -> Float[Array, "9"]:
    """The terms by decreasing centred share, each as 3 × decoder part + encoder part.

    NaN in a crossed fit where the two halves disagree on the rank.
    """
    return _order(evaluation).astype(evaluation.attribution.centred.dtype)


def alignment_kl(evaluation: Evaluation) -> Float[Array, " subset"]:
    """Mean over rows (n, s) of KL(α ‖ softmax_t(Σ of the subset's terms)) in nats.

    Small where the subset alone makes the network's attention; first_9 is rounding.
    """
    terms = evaluation.attribution.terms
    terms = terms.reshape(TERMS, *terms.shape[2:])
    valid = places(evaluation.decoder_mask, evaluation.encoder_mask)
    rank = jnp.argsort(_order(evaluation))
    first = rank[None, :] < jnp.arange(1, TERMS + 1)[:, None]
    subsets = jnp.concatenate([jnp.stack(list(FIXED_SUBSETS.values())), first])

    def of_subset(subset) -> Float[Array, ""]:
        scores = jnp.sum(terms, axis=0, where=subset[:, None, None, None])
        log_other = jax.nn.log_softmax(jnp.where(valid, scores, -jnp.inf), axis=-1)
        return mean_kl(evaluation.attention, log_other, valid)

    return jax.lax.map(of_subset, subsets)


def temporal_offset(evaluation: Evaluation) -> Float[Array, ""]:
    """Mean over s of argmax_t μ^D_s · μ^E_t − s, in positions, μ those of query and key.

    Over positions s and t that at least half of the samples reach.
    """
    scores = jnp.einsum(
        "sh,th->st",
        evaluation.tables["query"].temporal,
        evaluation.tables["key"].temporal,
        precision=jax.lax.Precision.HIGHEST,
    )
    reached_t, reached_s = (_reached(evaluation.encoder_mask), _reached(evaluation.decoder_mask))
    scores = jnp.where(reached_t[None, :], scores, -jnp.inf)
    offset = scores.argmax(-1) - jnp.arange(scores.shape[0])
    offset = jnp.where(jnp.isfinite(scores.max(-1)), offset, jnp.nan)
    return jnp.mean(offset, where=reached_s)


def _order(evaluation: Evaluation) -> Int[Array, "9"]:
    return jnp.argsort(-evaluation.attribution.centred.ravel())


def _reached(mask):
    """The positions that at least half of the samples with any have."""
    return 2 * mask.sum(0) >= jnp.maximum(mask.any(1).sum(), 1)
