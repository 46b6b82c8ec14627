"""The nine terms of every attention score, and how much of the scores each accounts for.

a_st = q_s · k_t = Σ_I Σ_J a^{IJ}_st with a^{IJ}_st = (part I of q_s) · (part J of k_t): I is the
decoder's part, J the encoder's, both in the order of `PARTS` (temporal, input, delta).

Source: Aitken et al. 2021, arXiv 2110.15253, section 2.2 (raw shares); centred and variance shares
are ours.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from aedjax.analysis.checks import Given, check_mask, check_states, known
from aedjax.analysis.decomposition import EXACT
from aedjax.errors import InputError
from aedjax.types import Components

KINDS = ("raw", "centred", "variance")
"""The shares of an `Attribution`, in its order."""


class Attribution(NamedTuple):
    """The terms of all scores, and the share of each term, by decoder part and encoder part.

    The shares of one kind sum to 1, or are all NaN where no row or place counts.
    """

    terms: Float[Array, "3 3 N S T"]
    raw: Float[Array, "3 3"]
    centred: Float[Array, "3 3"]
    variance: Float[Array, "3 3"]


def attribute(
    query: Components,
    key: Components,
    decoder_mask: Given,
    encoder_mask: Given,
) -> Attribution:
    """Attribute every attention score to the parts of its query and its key.

    Args:
        query: the split of the queries, [N, S, H] each part; with dot attention of the decoder's
            states.
        key: the split of the keys, [N, T, H] each part; with dot attention of the encoder's states.
        decoder_mask: true at valid decoder positions, [N, S].
        encoder_mask: true at valid encoder positions, [N, T].

    Returns:
        The nine terms in the unit of the scores, and their shares (see `shares`).

    Raises:
        InputError: for shapes or types that do not fit.
    """
    query = Components(*map(jnp.asarray, query))
    key = Components(*map(jnp.asarray, key))
    decoder_mask, encoder_mask = known(decoder_mask), known(encoder_mask)
    for side, parts in (("query", query), ("key", key)):
        for name, part in zip(Components._fields, parts, strict=True):
            check_states(f"{side}.{name}", part)
            if part.shape != parts[0].shape:
                raise InputError(
                    f"{side}.{name} has shape {part.shape}; use {parts[0].shape}, that of "
                    f"{side}.{Components._fields[0]}"
                )
    (samples, steps, units), positions = query[0].shape, key[0].shape[1]
    if key[0].shape != (samples, positions, units):
        raise InputError(
            f"key has shape {key[0].shape}; use {samples} samples and {units} units, as query has"
        )
    check_mask("decoder_mask", decoder_mask, (samples, steps), "the first two axes of query")
    check_mask("encoder_mask", encoder_mask, (samples, positions), "the first two axes of key")
    return _attribute(query, key, decoder_mask, encoder_mask)


@jax.jit
def _attribute(query, key, decoder_mask, encoder_mask) -> Attribution:
    terms = nine_terms(query, key)
    return Attribution(terms, *shares(terms, decoder_mask, encoder_mask))


def nine_terms(query: Components, key: Components) -> Float[Array, "3 3 N S T"]:
    """a^{IJ}_st = (part I of q_s) · (part J of k_t); over I and J they sum to the score."""
    return jnp.einsum(
        "insh,jnth->ijnst", jnp.stack(tuple(query)), jnp.stack(tuple(key)), precision=EXACT
    )


def shares(
    terms: Float[Array, "3 3 N S T"],
    decoder_mask: Bool[Array, "N S"],
    encoder_mask: Bool[Array, "N T"],
) -> tuple[Float[Array, "3 3"], Float[Array, "3 3"], Float[Array, "3 3"]]:
    """The raw, centred and variance shares of the nine terms, each [decoder part, encoder part].

    - raw: mean over places (n, s, t) of |a^{IJ}| / Σ|a^{..}|.
    - centred: the same after each row (n, s) of each term has lost its mean over t, which the
      softmax over t cannot see.
    - variance: Σ over rows of Cov_t(a^{IJ}, a) / Σ over rows of Var_t(a), a the sum of the terms;
      may be negative.

    Only valid places count, and of them neither rows with one valid t nor places where all nine
    (centred) terms are 0. Where nothing is left, NaN.
    """
    lengths = encoder_mask.sum(1)
    rows = decoder_mask & (lengths > 1)[:, None]
    places = rows[:, :, None] & encoder_mask[:, None, :]
    centred = _centred(terms, places)
    of_row = jnp.maximum(lengths, 1).astype(terms.dtype)[:, None, None]
    covariance = _weighted_sum(centred, centred.sum((0, 1)) / of_row)
    variance = covariance.sum()
    return (
        _mean_fraction(terms, places),
        _mean_fraction(centred, places),
        jnp.where(variance == 0, jnp.nan, covariance / variance),
    )


def _centred(terms, places) -> Float[Array, "3 3 N S T"]:
    """Each row less its mean over t. Its largest value goes first, so that a constant row becomes
    exactly 0, which rounding in the mean alone would not give."""
    counted = places[None, None]
    largest = jnp.max(terms, axis=-1, keepdims=True, where=counted, initial=-jnp.inf)
    below = jnp.where(counted, terms - largest, 0)
    mean = below.sum(-1, keepdims=True) / jnp.maximum(counted.sum(-1, keepdims=True), 1)
    return jnp.where(counted, below - mean, 0)


def _mean_fraction(terms, places) -> Float[Array, "3 3"]:
    sizes = jnp.where(places[None, None], jnp.abs(terms), 0)
    total = sizes.sum((0, 1))
    counted = places & (total != 0)
    weights = jnp.where(counted, 1 / jnp.where(counted, total, 1), 0)
    return _weighted_sum(sizes, weights) / counted.sum()


def _weighted_sum(
    terms: Float[Array, "3 3 N S T"], weights: Float[Array, "N S T"]
) -> Float[Array, "3 3"]:
    """Σ_nst weight_nst a^{IJ}_nst, as a matrix-vector product: a masked reduction of the same
    arrays takes several times as long on a CPU."""
    return jnp.matmul(terms.reshape(9, -1), weights.reshape(-1), precision=EXACT).reshape(3, 3)
