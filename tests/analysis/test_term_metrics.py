"""Metrics of the nine terms, for networks built to attend in a known way."""

import numpy as np
import pytest

from aedjax.types import BOS, EOS, PAD, Batch, Outputs, States
from tests.analysis.conftest import measured
from tests.analysis.synthetic import VOCABULARY

SAMPLES, POSITIONS, UNITS = 10, 5, 8


def network(encoder, decoder, targets):
    """Dot attention between these states; sources and targets are the same words."""
    first = np.full((SAMPLES, 1), BOS)
    batch = Batch(targets, np.concatenate([first, targets[:, :-1]], axis=1), targets, None)
    scores = np.einsum("nsh,nth->nst", decoder, encoder)
    attention = np.exp(scores - scores.max(-1, keepdims=True))
    attention /= attention.sum(-1, keepdims=True)
    states = States(encoder, decoder, decoder, encoder, encoder, scores, attention, decoder)
    return batch, Outputs(np.zeros((SAMPLES, POSITIONS, VOCABULARY)), states)


def words(rng):
    """Full-length samples, each word at every position equally often, EOS last."""
    targets = rng.integers(4, VOCABULARY, (SAMPLES, POSITIONS))
    targets[:, -1] = EOS
    return targets


def positional(rng, ahead):
    """States that depend on the position alone; step s attends t = s + `ahead`, where there is."""
    place = np.arange(POSITIONS)

    def of_angle(places):
        code = 8 * np.stack([np.cos(places / 4), np.sin(places / 4)], axis=-1)
        return np.broadcast_to(code, (SAMPLES, POSITIONS, 2))

    return network(of_angle(place), of_angle(place + ahead), words(rng))


@pytest.mark.parametrize(("ahead", "offset"), [(0, 0), (1, 4 / 5), (-2, -7 / 5)])
def test_attention_by_position_is_all_temporal(ahead, offset):
    found = measured(*positional(np.random.default_rng(0), ahead))
    wanted = np.zeros((3, 3, 3))
    wanted[0, 0] = 1
    np.testing.assert_allclose(found["share"], np.broadcast_to(wanted, (2, 2, 3, 3, 3)), atol=1e-9)
    np.testing.assert_allclose(found["temporal_offset"], offset, atol=1e-12)
    np.testing.assert_allclose(found["alignment_kl"][..., 0], 0, atol=1e-9)
    np.testing.assert_allclose(found["alignment_kl"][..., 2:], 0, atol=1e-9)
    assert (found["alignment_kl"][..., 1] > 0.3).all()
    np.testing.assert_array_equal(found["term_order"][:, 0, 0], 0)
    np.testing.assert_allclose(found["mean_attention_kl"], 0, atol=1e-12)
    assert np.isnan(found["word_variance"]).all()


def by_word():
    """States that depend on the word alone; words and positions balanced, so no mean remains."""
    cycle = np.array([4, 5, 6, 7, EOS])
    targets = np.stack([np.roll(cycle, k) for k in range(5)] * 2)
    codes = 4 * (np.eye(UNITS)[:5] - 0.2 * np.eye(UNITS)[:5].sum(0))
    code = np.zeros((VOCABULARY, UNITS))
    code[cycle] = codes
    batch, outputs = network(code[targets], code[targets], targets)
    return batch._replace(decoder_words=targets), outputs


def test_attention_by_word_is_all_input():
    found = measured(*by_word())
    wanted = np.zeros((3, 3, 3))
    wanted[1, 1] = 1
    for method in range(2):
        np.testing.assert_allclose(found["share"][method, 0], wanted, atol=1e-9)
    np.testing.assert_allclose(
        found["alignment_kl"][:, 0, :2], [[found["alignment_kl"][0, 0, 0], 0]] * 2, atol=1e-9
    )
    assert found["alignment_kl"][0, 0, 0] > 1
    np.testing.assert_array_equal(found["term_order"][:, 0, 0], 4)
    np.testing.assert_allclose(found["word_variance"][:, 0], 1, atol=1e-9)
    np.testing.assert_allclose(found["word_occurrences"][:, 0], 10)


def test_all_nine_terms_give_the_attention_back(sample):
    found = measured(*sample(1))
    np.testing.assert_allclose(found["alignment_kl"][..., -1], 0, atol=1e-10)
    np.testing.assert_array_equal(np.sort(found["term_order"][:, 0]), [range(9)] * 2)


def test_the_halves_order_of_terms_is_told_only_where_they_agree(sample):
    found = [measured(*sample(seed))["term_order"][:, 1] for seed in range(5)]
    told = np.concatenate([order[np.isfinite(order)] for order in found])
    assert np.isnan(found).any()
    assert set(told) <= set(range(9))


@pytest.mark.parametrize(
    ("reaching", "offset"), [(5, (1 + 1 + 1 + 1 + 0) / 5), (4, (1 + 1 + 0 - 1 - 2) / 5)]
)
def test_offset_reads_only_positions_that_half_of_the_samples_reach(reaching, offset):
    batch, outputs = positional(np.random.default_rng(0), 1)
    padded = np.zeros((SAMPLES, POSITIONS), bool)
    padded[reaching:, 3:] = True
    shorter = batch._replace(encoder_words=np.where(padded, PAD, batch.encoder_words))
    found = measured(shorter, outputs)["temporal_offset"]
    np.testing.assert_allclose(found[:, 0], offset, atol=1e-12)


def test_a_diverged_network_measures_nan(sample):
    batch, outputs = sample(0)
    states = States(*(leaf * np.nan for leaf in outputs.states))
    found = measured(batch, outputs._replace(states=states))
    for name in ("share", "alignment_kl", "temporal_offset", "mean_attention_kl", "diagonal_mass"):
        assert np.isnan(found[name]).all(), name
    assert np.isnan(found["word_variance"]).all()
