"""The two splits: against the reference, on data whose parts are known, at the edges."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.analysis import METHODS, decompose, fit, split
from tests.analysis import reference

SAMPLES, POSITIONS, UNITS, VOCABULARY = 7, 5, 3, 6
EVERY_METHOD = pytest.mark.parametrize("method", METHODS)
_fit = jax.jit(fit, static_argnames=("method", "vocabulary"))
_split = jax.jit(split)


def random_data(seed: int, samples=SAMPLES):
    """States, words of which some occur rarely, and a mask of any density with holes."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(samples, POSITIONS, UNITS)) + 3
    words = rng.integers(0, rng.integers(1, VOCABULARY + 1), (samples, POSITIONS))
    mask = rng.random((samples, POSITIONS)) < rng.choice([0.15, 0.5, 0.9, 1.0])
    return states, words, mask


def in_double(states, words, mask, method):
    """Tables and components in float64."""
    with jax.enable_x64(True):
        arrays = jnp.asarray(states), jnp.asarray(words), jnp.asarray(mask)
        tables = _fit(*arrays, method=method, vocabulary=VOCABULARY)
        return jax.tree.map(np.asarray, (tables, _split(*arrays, tables)))


def relative_error(parts, whole):
    """Largest error of the sum of parts over the largest sum of absolute parts."""
    return np.abs(sum(parts) - whole).max() / sum(np.abs(part) for part in parts).max()


@EVERY_METHOD
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_equals_the_reference(method, seed):
    states, words, mask = random_data(seed)
    tables, parts = in_double(states, words, mask, method)
    wanted = reference.FITS[method](states, words, mask, VOCABULARY)
    np.testing.assert_allclose(tables.temporal, wanted[0], atol=1e-11)
    np.testing.assert_allclose(tables.input, wanted[1], atol=1e-11)
    np.testing.assert_array_equal(tables.occurrences, np.bincount(words[mask], None, VOCABULARY))
    np.testing.assert_allclose(
        np.stack(parts), reference.split(states, words, mask, wanted), atol=1e-11
    )


@EVERY_METHOD
@pytest.mark.parametrize("longest", range(1, 7))
def test_equals_the_reference_at_every_length(method, longest):
    """Sentences of 1..T words, T and the other sizes running too; the last word never occurs."""
    samples, units, vocabulary = 2 * longest, 1 + longest % 3, 2 + longest
    rng = np.random.default_rng(longest)
    lengths = rng.permutation(np.arange(samples) % longest + 1)
    mask = np.arange(longest)[None, :] < lengths[:, None]
    states = rng.normal(size=(samples, longest, units)) + 3
    words = rng.integers(0, vocabulary - 1, mask.shape)
    tables = reference.FITS[method](states, words, mask, vocabulary)
    wanted = reference.split(states, words, mask, tables)
    with jax.enable_x64(True):
        parts = decompose(states, words, mask, method, vocabulary)
        np.testing.assert_allclose(np.stack(parts), wanted, atol=1e-11)
        assert relative_error(parts, np.where(mask[:, :, None], states, 0)) < 1e-12


@EVERY_METHOD
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_parts_sum_to_the_state_and_are_0_at_padding(method, seed):
    states, words, mask = random_data(seed)
    mask[0, 0] = True
    whole = np.where(mask[:, :, None], states, 0)
    _, parts = in_double(states, words, mask, method)
    assert relative_error(parts, whole) < 1e-12
    single = whole.astype(np.float32)
    parts = jax.tree.map(np.asarray, decompose(single, words, mask, method, VOCABULARY))
    assert relative_error(parts, single) < 1e-5
    for part in parts:
        assert not part[~mask].any()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_joint_fits_in_single_precision(seed):
    states, words, mask = random_data(seed)
    tables = _fit(jnp.float32(states), jnp.asarray(words), jnp.asarray(mask), "joint", VOCABULARY)
    wanted = reference.joint(states, words, mask, VOCABULARY)
    np.testing.assert_allclose(tables.temporal, wanted[0], atol=3e-5)
    np.testing.assert_allclose(tables.input, wanted[1], atol=3e-5)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_joint_input_parts_sum_to_0_in_every_component(seed):
    states, words, mask = random_data(seed)
    tables, _ = in_double(states, words, mask, "joint")
    weighted = tables.occurrences[:, None] * tables.input
    for component in reference.components(words, mask, VOCABULARY):
        its_words = [node - POSITIONS for node in component if node >= POSITIONS]
        assert np.abs(weighted[its_words].sum(0)).max() < 1e-11


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_joint_commutes_with_affine_maps(seed):
    states, words, mask = random_data(seed)
    mask[0, 0] = True
    rng = np.random.default_rng(seed)
    matrix, offset = rng.normal(size=(UNITS, UNITS)), rng.normal(size=UNITS)
    _, before = in_double(states, words, mask, "joint")
    _, after = in_double(states @ matrix + offset, words, mask, "joint")
    shift = np.where(mask[:, :, None], offset, 0)
    np.testing.assert_allclose(after.temporal, before.temporal @ matrix + shift, atol=1e-10)
    np.testing.assert_allclose(after.input, before.input @ matrix, atol=1e-10)
    np.testing.assert_allclose(after.delta, before.delta @ matrix, atol=1e-10)


def additive(rng, words, mask):
    """States that are a sum of position and word exactly, and what each sums to."""
    temporal, inputs = rng.normal(size=(POSITIONS, UNITS)), rng.normal(size=(VOCABULARY, UNITS))
    return temporal, inputs, np.where(mask[:, :, None], temporal[None] + inputs[words], 0)


def late_eos(rng):
    """Lengths 2..5 and word 0, as EOS, always last."""
    lengths = np.array([2, 3, 3, 4, 4, 5, 5])
    place = np.arange(POSITIONS)[None, :]
    words = np.where(place == lengths[:, None] - 1, 0, rng.integers(1, 4, (7, POSITIONS)))
    return words, place < lengths[:, None]


def test_joint_recovers_additive_states_where_sequential_is_biased():
    rng = np.random.default_rng(0)
    words, mask = late_eos(rng)
    temporal, inputs, states = additive(rng, words, mask)
    tables, parts = in_double(states, words, mask, "joint")
    occurrences = tables.occurrences[:, None]
    shift = (occurrences * inputs).sum(0) / occurrences.sum()
    seen = tables.occurrences > 0
    np.testing.assert_allclose(tables.input[seen], (inputs - shift)[seen], atol=1e-12)
    np.testing.assert_allclose(tables.temporal, temporal + shift, atol=1e-12)
    assert np.abs(parts.delta).max() < 1e-12
    biased = in_double(states, words, mask, "sequential")[1]
    assert np.abs(biased.delta).max() > 0.1


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_joint_leaves_nothing_of_additive_states(seed):
    _, words, mask = random_data(seed)
    rng = np.random.default_rng(seed)
    temporal, inputs, states = additive(rng, words, mask)
    tables, parts = in_double(states, words, mask, "joint")
    assert np.abs(parts.delta).max() < 1e-11
    for component in reference.components(words, mask, VOCABULARY):
        places = np.array(component)
        its_words = places[places >= POSITIONS] - POSITIONS
        its_positions = places[places < POSITIONS]
        weights = tables.occurrences[its_words, None]
        shift = (weights * inputs[its_words]).sum(0) / weights.sum()
        np.testing.assert_allclose(tables.input[its_words], inputs[its_words] - shift, atol=1e-11)
        np.testing.assert_allclose(
            tables.temporal[its_positions], temporal[its_positions] + shift, atol=1e-11
        )


@EVERY_METHOD
def test_bos_alone_at_the_first_step_has_no_input_part(method):
    rng = np.random.default_rng(1)
    words, mask = late_eos(rng)
    words[:, 0] = 5
    _, _, states = additive(rng, words, mask)
    tables, _ = in_double(states, words, mask, method)
    np.testing.assert_allclose(tables.input[5], 0, atol=1e-12)
    np.testing.assert_allclose(tables.temporal[0], states[0, 0], atol=1e-12)


def test_joint_recovers_each_of_two_disconnected_halves():
    rng = np.random.default_rng(2)
    late = np.arange(POSITIONS)[None, :] >= 2
    words = np.where(late, rng.integers(3, 6, (7, POSITIONS)), rng.integers(0, 3, (7, POSITIONS)))
    mask = np.ones_like(words, bool)
    _, inputs, states = additive(rng, words, mask)
    tables, parts = in_double(states, words, mask, "joint")
    assert np.abs(parts.delta).max() < 1e-12
    for its_words in (slice(0, 3), slice(3, 6)):
        weights = tables.occurrences[its_words, None]
        shift = (weights * inputs[its_words]).sum(0) / weights.sum()
        np.testing.assert_allclose(tables.input[its_words], inputs[its_words] - shift, atol=1e-12)


def test_joint_is_exact_where_one_sample_connects_two_groups():
    rng = np.random.default_rng(3)
    samples, positions, vocabulary = 1024, 12, 8
    late = np.arange(positions)[None, :] >= 6
    words = rng.integers(0, 4, (samples, positions)) + np.where(late, 4, 0)
    words[0, 0] = 5
    states = rng.normal(size=(samples, positions, 2)) + 3
    mask = np.ones_like(words, bool)
    tables = _fit(jnp.float32(states), jnp.asarray(words), jnp.asarray(mask), "joint", vocabulary)
    wanted = reference.joint(states, words, mask, vocabulary)
    np.testing.assert_allclose(tables.temporal, wanted[0], atol=2e-4)
    np.testing.assert_allclose(tables.input, wanted[1], atol=2e-4)


@EVERY_METHOD
@pytest.mark.parametrize(
    ("shape", "vocabulary"), [((1, 4), 3), ((4, 1), 3), ((4, 4), 1), ((1, 1), 1)]
)
def test_one_sample_one_position_one_word(method, shape, vocabulary):
    rng = np.random.default_rng(4)
    states = rng.normal(size=(*shape, 2))
    words = rng.integers(0, vocabulary, shape)
    mask = np.ones(shape, bool)
    parts = decompose(np.float32(states), words, mask, method, vocabulary)
    tables = reference.FITS[method](states, words, mask, vocabulary)
    wanted = reference.split(states, words, mask, tables)
    np.testing.assert_allclose(np.stack(parts), wanted, atol=1e-5)
    if shape[0] == 1 and method == "sequential":
        np.testing.assert_allclose(parts.temporal, states, atol=1e-6)


@EVERY_METHOD
def test_unreached_positions_and_unseen_words_contribute_nothing(method):
    states, words, mask = random_data(5)
    words, mask = words % 3, np.ones_like(mask)
    fit_mask = mask.copy()
    fit_mask[:, 3] = False
    words[:, :3][words[:, :3] == 2] = 1
    fit_mask[words == 2] = False
    words[0, 0], fit_mask[0, 0] = 2, False
    parts = decompose(np.float32(states), words, mask, method, VOCABULARY, fit_mask)
    assert not np.asarray(parts.temporal)[:, 3].any()
    assert not np.asarray(parts.input)[words == 2].any()
    assert np.asarray(parts.input)[words == 1].all()
    tables = reference.FITS[method](states, words, fit_mask, VOCABULARY)
    wanted = reference.split(states, words, mask, tables)
    np.testing.assert_allclose(np.stack(parts), wanted, atol=1e-5)


@EVERY_METHOD
def test_what_is_masked_is_never_read(method):
    states, words, mask = random_data(6)
    mask[0, 0], mask[1, 1] = True, False
    parts = decompose(np.float32(states), words, mask, method)
    garbled = np.where(mask[:, :, None], states, np.nan).astype(np.float32)
    for masked_words in (words, np.where(mask, words, -100)):
        same = decompose(garbled, masked_words, mask, method)
        for part, other in zip(parts, same, strict=True):
            np.testing.assert_array_equal(part, other)


@EVERY_METHOD
def test_mapping_over_networks_equals_a_loop(method):
    _, words, mask = random_data(7)
    states = np.random.default_rng(7).normal(size=(3, SAMPLES, POSITIONS, UNITS))
    states = np.float32(states)

    def one(states):
        return decompose(states, words, mask, method, VOCABULARY)

    together = jax.vmap(one)(states)
    for k in range(3):
        for part, alone in zip(together, one(states[k]), strict=True):
            np.testing.assert_allclose(part[k], alone, atol=1e-5)
