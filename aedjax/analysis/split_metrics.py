"""How good a split of the states is: what it explains, what it rests on, what rounding cost."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from aedjax.analysis.evaluation import Evaluation

SIDES = ("encoder", "decoder")
WHOLES = ("encoder", "decoder", "scores")
"""What is split into parts, in the order of `reconstruction_error`."""


def word_variance(evaluation: Evaluation) -> Float[Array, " side"]:
    """Share of the variance of h − μ that χ explains: 1 − Σ‖Δ‖² / Σ‖h − μ‖².

    Sums run over valid states. It may be negative on samples that the split was not fitted on.
    NaN where the position says all there is, up to rounding.
    """

    def of_side(name: str) -> Float[Array, ""]:
        temporal, inputs, delta = evaluation.components[name]
        rest = jnp.sum((inputs + delta) ** 2)
        rounding = (8 * jnp.finfo(rest.dtype).eps) ** 2 * jnp.sum(temporal**2)
        return jnp.where(rest > rounding, 1 - jnp.sum(delta**2) / rest, jnp.nan)

    return jnp.stack([of_side(name) for name in SIDES])


def word_occurrences(evaluation: Evaluation) -> Float[Array, " side"]:
    """Median, over the words that occur in the fitted samples, of how often they do."""

    def of_side(name: str) -> Float[Array, ""]:
        count = evaluation.tables[name].occurrences
        return jnp.nanmedian(jnp.where(count > 0, count, jnp.nan))

    return jnp.stack([of_side(name) for name in SIDES])


def reconstruction_error(evaluation: Evaluation) -> Float[Array, " whole"]:
    """Largest |sum of parts − whole| over the largest sum of absolute parts.

    For the encoder's states, the decoder's, and the scores (nine terms; NaN without attention).
    """
    errors = []
    for name in SIDES:
        side, parts = evaluation.sides[name], evaluation.components[name]
        errors.append(_relative_error(parts, side.states, side.mask[:, :, None]))
    if evaluation.attribution is None or evaluation.scores is None:
        errors.append(jnp.full_like(errors[0], jnp.nan))
    else:
        terms = evaluation.attribution.terms.reshape(-1, *evaluation.scores.shape)
        valid = evaluation.decoder_mask[:, :, None] & evaluation.encoder_mask[:, None, :]
        errors.append(_relative_error(list(terms), evaluation.scores, valid))
    return jnp.stack(errors)


def _relative_error(parts, whole, valid) -> Float[Array, ""]:
    # Sums part by part: XLA's reduction over a leading axis of a few takes many times as long.
    difference = jnp.where(valid, jnp.abs(sum(parts) - whole), 0)
    sizes = jnp.where(valid, sum(jnp.abs(part) for part in parts), 0)
    return difference.max() / sizes.max()
