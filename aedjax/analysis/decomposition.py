"""The split of hidden states into what the position, the word and the rest contribute.

state_nt = μ_t + χ_{x_nt} + Δ_nt: temporal, input and delta part. Sample n, position t, word x_nt.
Functions take one side (encoder or decoder) of one network, and any arrays will do; map over
networks outside. The unit of every part is that of the states.

Source: Aitken et al. 2021, arXiv 2110.15253, section 2.1 (`sequential`); `joint` is ours.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from aedjax.analysis.checks import (
    Given,
    check_mask,
    check_states,
    check_words,
    checked_vocabulary,
    known,
)
from aedjax.errors import unknown
from aedjax.types import Components, Tables

EXACT = jax.lax.Precision.HIGHEST
"""Else accelerators round the factors of a float32 product, and parts miss the whole."""

JOINT_ROUNDS = 2
"""Solves of the joint fit, each on what those before left. Where one sample in 1,024 is all that
connects two groups of positions, the first leaves an error of 1e-2 in float32, the second 1e-4,
which is what rounding in the sums leaves anyway."""


def fit_sequential(
    states: Float[Array, "N T H"],
    words: Int[Array, "N T"],
    mask: Bool[Array, "N T"],
    vocabulary: int,
) -> Tables:
    """The paper's split: positions first, then words on what is left.

    μ_t = mean of h_nt over n, χ_x = mean of h_nt − μ_t over all (n, t) with x_nt = x; both over
    the states in `mask`. Biased where word and position go together (EOS is always late).
    """
    counts = _counts(words, mask, vocabulary)
    temporal = _means(_position_sums(states, mask), counts.sum(1))
    rest = states - temporal[None, :, :]
    inputs = _means(_word_sums(rest, words, mask, vocabulary), counts.sum(0))
    return Tables(temporal, inputs, counts.sum(0).astype(int))


def fit_joint(
    states: Float[Array, "N T H"],
    words: Int[Array, "N T"],
    mask: Bool[Array, "N T"],
    vocabulary: int,
) -> Tables:
    """The least-squares additive fit h_nt ≈ μ_t + χ_{x_nt} over the states in `mask`.

    Adding a constant to all μ_t and taking it off all χ_x changes no fitted value, separately in
    every connected component of the graph that joins words to the positions they occur at. What
    makes the fit unique: Σ_x n_x χ_x = 0 in each component, n_x the number of occurrences of x.
    Unbiased, and it commutes with affine maps of the states.

    Source: two-way unbalanced analysis of variance, Searle 1971, Linear Models, chapter 7.
    """
    counts = _counts(words, mask, vocabulary)
    solve = _normal_equations(counts.astype(states.dtype))
    temporal = jnp.zeros_like(states, shape=(words.shape[1], states.shape[2]))
    inputs = jnp.zeros_like(states, shape=(vocabulary, states.shape[2]))
    for _ in range(JOINT_ROUNDS):
        rest = states - temporal[None, :, :] - _of_words(inputs, words)
        sums = _position_sums(rest, mask), _word_sums(rest, words, mask, vocabulary)
        more_temporal, more_inputs = solve(*sums)
        temporal, inputs = temporal + more_temporal, inputs + more_inputs
    return Tables(temporal, inputs, counts.sum(0).astype(int))


METHODS: dict[str, Callable[..., Tables]] = {"sequential": fit_sequential, "joint": fit_joint}
"""The ways to fit a split, by name; each takes (states, words, mask, vocabulary)."""


def fit(
    states: Float[Array, "N T H"],
    words: Int[Array, "N T"],
    mask: Bool[Array, "N T"],
    method: str,
    vocabulary: int,
) -> Tables:
    """The temporal and input tables of the states in `mask`, by the method of that name.

    Leave samples out of the fit through the mask. A position that no state in the mask has gets
    μ = 0, a word that none carries χ = 0.

    Raises:
        InputError: for an unknown method.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    return METHODS[method](states, words, mask, vocabulary)


def split(
    states: Float[Array, "N T H"],
    words: Int[Array, "N T"],
    mask: Bool[Array, "N T"],
    tables: Tables,
) -> Components:
    """Every state in `mask` as μ_t + χ_{x_nt} + Δ_nt, with 0 for all three elsewhere."""
    valid = mask[:, :, None]
    temporal = jnp.where(valid, tables.temporal[None, :, :], 0)
    inputs = jnp.where(valid, _of_words(tables.input, words), 0)
    delta = jnp.where(valid, states - temporal - inputs, 0)
    return Components(temporal, inputs, delta)


def decompose(
    states: Given,
    words: Given,
    mask: Given,
    method: str = "sequential",
    vocabulary: int | None = None,
    fit_mask: Given | None = None,
) -> Components:
    """Split hidden states into temporal, input and delta parts: μ_t + χ_{x_nt} + Δ_nt = h_nt.

    Args:
        states: h, floating point, [N, T, H].
        words: x, the word read at each position, whole numbers, [N, T].
        mask: true at valid positions, [N, T]; the parts are 0 elsewhere.
        method: "sequential" (the paper's means) or "joint" (unbiased least squares).
        vocabulary: ids run from 0 to vocabulary − 1; one more than the largest word if not given.
        fit_mask: the states that μ and χ are fitted on, [N, T]; all valid ones if not given. A
            position or word that none of them has contributes 0.

    Returns:
        Three arrays [N, T, H] in the unit of the states.

    Raises:
        InputError: for shapes, types, ids or a method that do not fit. Ids are looked at only
            where they are known, that is, outside jit.
    """
    states = jnp.asarray(states)
    words, mask = known(words), known(mask)
    fit_mask = None if fit_mask is None else known(fit_mask)
    check_states("states", states)
    shape, of = states.shape[:2], "the first two axes of states"
    check_words(words, shape, of)
    check_mask("mask", mask, shape, of)
    if fit_mask is not None:
        check_mask("fit_mask", fit_mask, shape, of)
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    vocabulary = checked_vocabulary(words, mask, vocabulary)
    words, mask = jnp.asarray(words), jnp.asarray(mask)
    fitted = mask if fit_mask is None else mask & jnp.asarray(fit_mask)
    return _decompose(states, words, mask, fitted, method, vocabulary)


@jax.jit(static_argnames=("method", "vocabulary"))
def _decompose(states, words, mask, fitted, method, vocabulary) -> Components:
    return split(states, words, mask, fit(states, words, fitted, method, vocabulary))


def _counts(words, mask, vocabulary: int) -> Int[Array, "T X"]:
    """How often each word occurs at each position."""
    positions = jnp.arange(words.shape[1])[None, :]
    return jnp.zeros((words.shape[1], vocabulary), int).at[positions, words].add(mask.astype(int))


def _position_sums(values, mask) -> Float[Array, "T H"]:
    return jnp.sum(values, axis=0, where=mask[:, :, None])


def _word_sums(values, words, mask, vocabulary: int) -> Float[Array, "X H"]:
    kept = jnp.where(mask[:, :, None], values, 0)
    flat = kept.reshape(-1, kept.shape[-1])
    return jax.ops.segment_sum(flat, words.reshape(-1), vocabulary)


def _of_words(table, words) -> Float[Array, "N T H"]:
    """The table's row for each word; NaN for an id it does not have."""
    return jnp.take(table, words, axis=0, mode="fill", fill_value=jnp.nan)


def _means(sums: Float[Array, "K H"], count: Shaped[Array, " K"]) -> Float[Array, "K H"]:
    """Sums over their counts; 0 where nothing was summed."""
    return sums / jnp.maximum(count, 1).astype(sums.dtype)[:, None]


def _normal_equations(
    counts: Float[Array, "T X"],
) -> Callable[[Float[Array, "T H"], Float[Array, "X H"]], tuple[Array, Array]]:
    """The map from position sums b_t and word sums b_x of states to the joint fit (μ, χ).

    With C = `counts`, n_t and n_x its margins: n_t μ_t + Σ_x C_tx χ_x = b_t and
    n_x χ_x + Σ_t C_tx μ_t = b_x. Eliminating χ leaves (1 − B Bᵀ) z = r, where z_t = √n_t μ_t,
    B_tx = C_tx / √(n_t n_x), r_t = (b_t − Σ_x C_tx b_x / n_x) / √n_t. The eigenvalues of B Bᵀ lie
    in [0, 1], and 1 belongs to the vectors √n_t on one component each; r is orthogonal to them,
    so adding the projector onto them changes no solution and makes the matrix positive definite.
    Positions without states keep the identity's row and get 0.
    """
    n_t, n_x = counts.sum(1), counts.sum(0)
    root_t = jnp.sqrt(jnp.maximum(n_t, 1))
    scaled = counts / root_t[:, None] / jnp.sqrt(jnp.maximum(n_x, 1))[None, :]
    overlap = jnp.matmul(scaled, scaled.T, precision=EXACT)
    together = _connected(overlap > 0)
    sizes = jnp.maximum(jnp.where(together, n_t[None, :], 0).sum(1), 1)
    projector = jnp.where(together, root_t[:, None] * root_t[None, :] / sizes[:, None], 0)
    inverse = _inverse(jnp.eye(len(n_t), dtype=counts.dtype) - overlap + projector)

    def solve(position_sums, word_sums) -> tuple[Float[Array, "T H"], Float[Array, "X H"]]:
        left = position_sums - jnp.matmul(counts, _means(word_sums, n_x), precision=EXACT)
        temporal = jnp.matmul(inverse, left / root_t[:, None], precision=EXACT) / root_t[:, None]
        # The sum of n_x χ_x over a component is what its position sums have left: move it to μ.
        left = position_sums - n_t[:, None] * temporal
        shift = jnp.matmul(together.astype(left.dtype), left, precision=EXACT) / sizes[:, None]
        temporal = temporal + shift
        left = word_sums - jnp.matmul(counts.T, temporal, precision=EXACT)
        return temporal, _means(left, n_x)

    return solve


def _inverse(matrix: Float[Array, "T T"]) -> Float[Array, "T T"]:
    """The inverse of a positive definite matrix, by Gauss-Jordan elimination without pivoting.

    T is a sequence length, so a solver that is plain XLA costs nothing; batches of LAPACK's wait
    for each other for ever where several CPU devices share a thread pool (seen with jaxlib 0.10.2).
    """

    def eliminate(rows: Float[Array, "T 2*T"], k: Int[Array, ""]):
        pivot = rows[k] / rows[k, k]
        column = rows[:, k].at[k].set(0)
        return (rows - column[:, None] * pivot[None, :]).at[k].set(pivot), None

    size = len(matrix)
    rows = jnp.concatenate([matrix, jnp.eye(size, dtype=matrix.dtype)], axis=1)
    rows, _ = jax.lax.scan(eliminate, rows, jnp.arange(size))
    return rows[:, size:]


def _connected(linked: Bool[Array, "T T"]) -> Bool[Array, "T T"]:
    """Which positions a chain of links joins: the transitive closure, by squaring."""
    for _ in range(max(len(linked) - 1, 1).bit_length()):
        steps = linked.astype(jnp.float32)
        linked = (steps @ steps) > 0
    return linked
