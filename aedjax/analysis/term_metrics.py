"""How the nine terms of the scores make the attention: shares, and attention from a few terms."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aedjax.analysis.attention import mean_kl, places
from aedjax.analysis.attribution import Attribution
from aedjax.analysis.decomposition import EXACT
from aedjax.analysis.evaluation import Evaluation
from aedjax.types import PARTS

TERMS = len(PARTS) ** 2
FIXED_SUBSETS = {
    "temporal_temporal": np.arange(TERMS) == 0,
    "without_temporal_temporal": np.arange(TERMS) != 0,
}
"""Subsets of the terms by name, each true at 3 * decoder part + encoder part."""

SUBSETS = (*FIXED_SUBSETS, *(f"first_{count}" for count in range(1, TERMS + 1)))
"""The subsets of `alignment_kl`; first_k has the k terms of largest centred share."""


def share(evaluation: Evaluation) -> Float[Array, "3 3 kind"]:
    """Raw, centred and variance share of each term (see `aedjax.analysis.shares`)."""
    _, *shares = _attribution(evaluation)
    return jnp.stack(shares, axis=-1)


def term_order(evaluation: Evaluation) -> Float[Array, "9"]:
    """The terms by decreasing centred share, each as 3 × decoder part + encoder part.

    NaN in a crossed fit where the two halves disagree on the rank.
    """
    return _order(evaluation).astype(_attribution(evaluation).centred.dtype)


def alignment_kl(evaluation: Evaluation) -> Float[Array, " subset"]:
    """Mean over rows (n, s) of KL(α ‖ softmax_t(Σ of the subset's terms)) in nats.

    Small where the subset alone makes the network's attention; first_9 is rounding.
    """
    terms, attention = _attribution(evaluation).terms, evaluation.attention
    assert attention is not None
    valid = places(evaluation.decoder_mask, evaluation.encoder_mask)
    rank = jnp.argsort(_order(evaluation))
    first = rank[None, :] < jnp.arange(1, TERMS + 1)[:, None]
    subsets = jnp.concatenate([jnp.stack(list(FIXED_SUBSETS.values())), first])
    # One matrix product makes the scores of all subsets; masked sums take many times as long.
    scores = jnp.matmul(
        subsets.astype(terms.dtype), terms.reshape(TERMS, -1), precision=EXACT
    ).reshape(-1, *valid.shape)
    log_others = jax.nn.log_softmax(jnp.where(valid[None], scores, -jnp.inf), axis=-1)
    return jax.vmap(lambda log_other: mean_kl(attention, log_other, valid))(log_others)


def temporal_offset(evaluation: Evaluation) -> Float[Array, ""]:
    """Mean over s of argmax_t μ^D_s · μ^E_t − s, in positions, μ those of query and key.

    Over positions s and t that at least half of the samples reach.
    """
    scores = jnp.einsum(
        "sh,th->st",
        evaluation.tables["query"].temporal,
        evaluation.tables["key"].temporal,
        precision=EXACT,
    )
    reached_t, reached_s = (_reached(evaluation.encoder_mask), _reached(evaluation.decoder_mask))
    scores = jnp.where(reached_t[None, :], scores, -jnp.inf)
    offset = scores.argmax(-1) - jnp.arange(scores.shape[0])
    offset = jnp.where(jnp.isfinite(scores.max(-1)), offset, jnp.nan)
    return jnp.mean(offset, where=reached_s)


def _attribution(evaluation: Evaluation) -> Attribution:
    assert evaluation.attribution is not None
    return evaluation.attribution


def _order(evaluation: Evaluation) -> Int[Array, "9"]:
    return jnp.argsort(-_attribution(evaluation).centred.ravel())


def _reached(mask):
    """The positions that at least half of the samples with any have."""
    return 2 * mask.sum(0) >= jnp.maximum(mask.any(1).sum(), 1)
