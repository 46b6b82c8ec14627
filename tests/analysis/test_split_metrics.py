"""What a split explains and rests on, where the answer is known."""

import numpy as np

from aedjax.types import FIRST_WORD
from tests.analysis.conftest import measured
from tests.analysis.synthetic import VOCABULARY, without_attention


def test_words_explain_the_share_of_the_variance_that_they_make(sample):
    batch, outputs = sample(0)
    outputs = without_attention(outputs)
    rng = np.random.default_rng(0)
    temporal = rng.normal(size=(1, *batch.targets.shape[1:], 3))
    inputs = rng.normal(size=(VOCABULARY, 3))[batch.decoder_words]
    states = outputs.states._replace(decoder=temporal + inputs)
    found = measured(batch, outputs._replace(states=states))["word_variance"]
    np.testing.assert_allclose(found[1, 0, 1], 1, atol=1e-12)
    assert found[0, 0, 1] < 1


def test_a_word_seen_once_explains_itself_in_sample_but_not_across(sample):
    batch, outputs = sample(0)
    samples, positions = batch.encoder_words.shape
    rng = np.random.default_rng(1)
    lonely = batch.encoder_words.copy()
    lonely[lonely >= FIRST_WORD] = FIRST_WORD
    states = rng.normal(size=(samples, positions, 3))
    states[lonely == FIRST_WORD] = 0
    lonely[0], states[0] = [4, 5, 6, 7, 2], rng.normal(size=(positions, 3))
    batch = batch._replace(encoder_words=lonely)
    outputs = without_attention(outputs)
    outputs = outputs._replace(states=outputs.states._replace(encoder=states))
    found = measured(batch, outputs)["word_variance"][:, :, 0]
    assert (found[:, 1] < found[:, 0] - 0.1).all()


def test_occurrences_are_counted_in_the_fitted_samples(sample):
    batch, outputs = sample(0)
    found = measured(batch, outputs)["word_occurrences"]
    valid = batch.encoder_words[batch.encoder_words != 0]
    count = np.unique(valid, return_counts=True)[1]
    np.testing.assert_array_equal(found[:, 0, 0], np.median(count))
    assert (found[:, 1] < found[:, 0]).all()


def test_the_error_compares_the_terms_with_the_networks_own_scores(sample):
    batch, outputs = sample(0)
    clean = measured(batch, outputs)["reconstruction_error"]
    assert (clean < 1e-12).all()
    wrong = outputs.states._replace(scores=outputs.states.scores + 1)
    found = measured(batch, outputs._replace(states=wrong))["reconstruction_error"]
    np.testing.assert_array_equal(found[..., :2], clean[..., :2])
    assert (found[..., 2] > 1e-3).all()
