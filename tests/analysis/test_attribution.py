"""The nine terms and their shares: against the reference, and where the answer is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.analysis import attribute, nine_terms
from aedjax.errors import InputError
from aedjax.types import Components
from tests.analysis import reference

SAMPLES, STEPS, POSITIONS, UNITS = 4, 3, 7, 2


def random_parts(rng, positions, dtype):
    """Random parts with some that are all 0, and some positions at which every part is 0."""
    parts = rng.normal(size=(3, SAMPLES, positions, UNITS)) * rng.choice([0, 1, 10], (3, 1, 1, 1))
    parts *= rng.random((1, SAMPLES, positions, 1)) < 0.9
    return Components(*jnp.asarray(parts, dtype))


def masks(rng):
    """A mask for the decoder and one for the encoder, holes and short rows among them."""
    density = rng.choice([0.2, 0.7, 1.0])
    return (
        jnp.asarray(rng.random((SAMPLES, STEPS)) < 0.8),
        jnp.asarray(rng.random((SAMPLES, POSITIONS)) < density),
    )


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_equals_the_reference(seed):
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        query = random_parts(rng, STEPS, np.float64)
        key = random_parts(rng, POSITIONS, np.float64)
        valid = masks(rng)
        found = jax.tree.map(np.asarray, attribute(query, key, *valid))
    terms = reference.nine_terms(np.stack(query), np.stack(key))
    np.testing.assert_allclose(found.terms, terms, atol=1e-12)
    raw, centred, variance = reference.shares(terms, *map(np.asarray, valid))
    np.testing.assert_allclose(found.raw, raw, atol=1e-10)
    np.testing.assert_allclose(found.centred, centred, atol=1e-10)
    np.testing.assert_allclose(found.variance, variance, atol=1e-8)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_terms_sum_to_the_score_and_shares_to_1(dtype, tolerance, seed):
    rng = np.random.default_rng(seed)
    with jax.enable_x64(dtype == np.float64):
        query, key = (
            Components(*jnp.asarray(rng.normal(size=(3, SAMPLES, positions, UNITS)), dtype))
            for positions in (STEPS, POSITIONS)
        )
        everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
        found = jax.tree.map(np.asarray, attribute(query, key, *everywhere))
    score = np.einsum("nsh,nth->nst", sum(map(np.float64, query)), sum(map(np.float64, key)))
    size = np.abs(found.terms).sum((0, 1)).max()
    assert np.abs(found.terms.sum((0, 1)) - score).max() < tolerance * size
    for shares in (found.raw, found.centred, found.variance):
        assert abs(shares.sum() - 1) < tolerance * np.abs(shares).sum()
    assert (found.raw >= 0).all()
    assert (found.centred >= 0).all()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_shares_sum_to_1_over_valid_places_or_are_undefined(seed):
    rng = np.random.default_rng(seed)
    query, key = (
        Components(*jnp.asarray(rng.normal(size=(3, SAMPLES, positions, UNITS)), jnp.float32))
        for positions in (STEPS, POSITIONS)
    )
    steps, positions = masks(rng)
    found = jax.tree.map(np.asarray, attribute(query, key, steps, positions))
    some = bool((steps & (positions.sum(1) > 1)[:, None]).any())
    for shares in (found.raw, found.centred, found.variance):
        assert np.isfinite(shares).all() if some else np.isnan(shares).all()
        assert not some or abs(shares.sum() - 1) < 1e-5 * np.abs(shares).sum()


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("other", range(3))
def test_one_part_of_each_side_has_all_shares(part, other):
    rng = np.random.default_rng(0)
    query, key = (np.zeros((3, SAMPLES, n, UNITS), np.float32) for n in (STEPS, POSITIONS))
    query[part], key[other] = rng.normal(size=query[0].shape), rng.normal(size=key[0].shape)
    everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
    found = attribute(Components(*query), Components(*key), *everywhere)
    wanted = np.zeros((3, 3))
    wanted[part, other] = 1
    for shares in (found.raw, found.centred, found.variance):
        np.testing.assert_allclose(shares, wanted, atol=1e-6)


CONSTANTS = np.array([0.3, 0.4, 0.5, 0.6], np.float32)


def constant_row():
    """Scores 0.1 + 0.2 t for the input part of the key, its temporal part constant along t: 0.3,
    0.4, 0.5 or 0.6, most of which rounding keeps from being their own mean."""
    query, key = (np.zeros((3, SAMPLES, n, 1), np.float32) for n in (STEPS, POSITIONS))
    query[0] = 1
    key[0] = CONSTANTS[:, None, None]
    key[1] = 0.1 + 0.2 * np.arange(POSITIONS, dtype=np.float32)[None, :, None]
    return query, key


def test_a_term_that_is_constant_along_t_has_no_centred_share():
    query, key = constant_row()
    everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
    found = attribute(Components(*query), Components(*key), *everywhere)
    temporal = np.mean([c / (c + 0.1 + 0.2 * t) for c in CONSTANTS for t in range(POSITIONS)])
    np.testing.assert_allclose(found.raw[0], [temporal, 1 - temporal, 0], atol=1e-6)
    np.testing.assert_allclose(found.centred[0], [0, 1, 0], atol=0)
    np.testing.assert_allclose(found.variance[0], [0, 1, 0], atol=1e-6)


def test_scores_that_are_constant_along_t_have_no_centred_shares():
    query, key = constant_row()
    key[1] = 0
    everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
    found = attribute(Components(*query), Components(*key), *everywhere)
    np.testing.assert_allclose(found.raw[0], [1, 0, 0], atol=1e-6)
    assert np.isnan(found.centred).all()
    assert np.isnan(found.variance).all()


@pytest.mark.parametrize("kept", [0, 1])
def test_rows_with_fewer_than_two_positions_count_in_no_share(kept):
    rng = np.random.default_rng(1)
    query, key = random_parts(rng, STEPS, np.float32), random_parts(rng, POSITIONS, np.float32)
    encoder_mask = jnp.broadcast_to(jnp.arange(POSITIONS)[None, :] < kept, (SAMPLES, POSITIONS))
    found = attribute(query, key, jnp.ones((SAMPLES, STEPS), bool), encoder_mask)
    for shares in (found.raw, found.centred, found.variance):
        assert np.isnan(shares).all()


def test_a_variance_share_may_be_negative():
    query, key = constant_row()
    key[0] = -key[1] / 2
    everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
    found = attribute(Components(*query), Components(*key), *everywhere)
    np.testing.assert_allclose(found.variance[0], [-1, 2, 0], atol=1e-5)


def test_mapping_over_networks_equals_a_loop():
    rng = np.random.default_rng(2)
    query, key = (
        Components(*jnp.asarray(rng.normal(size=(3, 2, SAMPLES, n, UNITS)), jnp.float32))
        for n in (STEPS, POSITIONS)
    )
    valid = masks(rng)
    together = jax.vmap(lambda q, k: attribute(q, k, *valid))(query, key)
    for k in range(2):
        alone = attribute(*jax.tree.map(lambda leaf, k=k: leaf[k], (query, key)), *valid)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[k], other, rtol=1e-4, atol=1e-5)


def test_nan_in_one_part_stays_visible():
    rng = np.random.default_rng(3)
    query, key = random_parts(rng, STEPS, np.float32), random_parts(rng, POSITIONS, np.float32)
    query = query._replace(delta=jnp.full_like(query.delta, jnp.nan))
    everywhere = jnp.ones((SAMPLES, STEPS), bool), jnp.ones((SAMPLES, POSITIONS), bool)
    assert np.isnan(nine_terms(query, key)[2]).all()
    found = attribute(query, key, *everywhere)
    for shares in (found.raw, found.centred, found.variance):
        assert np.isnan(shares).any()


def parts(samples, positions, units):
    return Components(*jnp.ones((3, samples, positions, units)))


BAD = {
    "swapped masks": (
        {"decoder_mask": np.ones((2, 4), bool), "encoder_mask": np.ones((2, 3), bool)},
        r"decoder_mask has shape \(2, 4\); use \(2, 3\), the first two axes of query",
    ),
    "short mask": (
        {"encoder_mask": np.ones((2, 3), bool)},
        r"encoder_mask has shape \(2, 3\); use \(2, 4\), the first two axes of key",
    ),
    "one sample's mask": (
        {"decoder_mask": np.ones((1, 3), bool)},
        r"decoder_mask has shape \(1, 3\); use \(2, 3\)",
    ),
    "number mask": ({"encoder_mask": np.ones((2, 4), int)}, "encoder_mask has type int"),
    "other units": ({"key": parts(2, 4, 6)}, r"key has shape \(2, 4, 6\); use 2 samples and 5"),
    "other samples": ({"key": parts(1, 4, 5)}, r"key has shape \(1, 4, 5\); use 2 samples and 5"),
    "one part of another shape": (
        {"query": parts(2, 3, 5)._replace(delta=jnp.ones((2, 1, 5)))},
        r"query.delta has shape \(2, 1, 5\); use \(2, 3, 5\), that of query.temporal",
    ),
    "states of one sample": (
        {"query": parts(2, 3, 5)._replace(temporal=jnp.ones((3, 5)))},
        r"query.temporal has shape \(3, 5\); use \[samples, positions, units\]",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_came_and_what_to_do(case):
    good = {
        "query": parts(2, 3, 5),
        "key": parts(2, 4, 5),
        "decoder_mask": np.ones((2, 3), bool),
        "encoder_mask": np.ones((2, 4), bool),
    }
    change, message = BAD[case]
    with pytest.raises(InputError, match=message):
        attribute(**good | change)
