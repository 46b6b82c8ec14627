"""Loss and accuracies where the answer can be worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.analysis.accuracy import loss, sequence_accuracy, token_accuracy
from aedjax.types import BOS, EOS, PAD, Batch, Outputs, States
from tests.analysis.synthetic import VOCABULARY

TARGETS = np.array([[4, 5, EOS], [6, EOS, PAD], [EOS, PAD, PAD]])


def case(predicted):
    """A batch of three and logits of 2 for the predicted words, 0 for the others."""
    decoder = np.where(TARGETS != PAD, np.hstack([np.full((3, 1), BOS), TARGETS[:, :-1]]), PAD)
    words = jnp.asarray(TARGETS)
    batch = Batch(words, jnp.asarray(decoder), words, None)
    logits = jnp.asarray(2 * np.eye(VOCABULARY, dtype=np.float32)[predicted])
    states = jnp.zeros((3, 3, 2))
    return batch, Outputs(logits, States(states, states))


@pytest.mark.parametrize(
    ("predicted", "tokens", "sequences"),
    [
        (TARGETS, 1, 1),
        (np.where(TARGETS == PAD, 7, TARGETS), 1, 1),
        (np.where(TARGETS == EOS, 4, TARGETS), 3 / 6, 0),
        (np.where(TARGETS == 6, 4, TARGETS), 5 / 6, 2 / 3),
        (np.full_like(TARGETS, PAD), 0, 0),
    ],
    ids=["all right", "padding wrong", "no EOS", "one wrong", "PAD predicted"],
)
def test_accuracies(predicted, tokens, sequences):
    batch, outputs = case(predicted)
    np.testing.assert_allclose(token_accuracy(batch, outputs), tokens, atol=1e-6)
    np.testing.assert_allclose(sequence_accuracy(batch, outputs), sequences, atol=1e-6)


def test_loss_is_the_cross_entropy_in_nats():
    rest = np.log(np.exp(2) + VOCABULARY - 1)
    batch, outputs = case(np.where(TARGETS == 6, 4, TARGETS))
    np.testing.assert_allclose(loss(batch, outputs), rest - 2 * 5 / 6, rtol=1e-6)


def test_loss_stays_finite_where_a_probability_rounds_to_0():
    batch, outputs = case(np.full_like(TARGETS, 7))
    outputs = outputs._replace(logits=outputs.logits * 500)
    np.testing.assert_allclose(loss(batch, outputs), 1000, rtol=1e-6)


def test_garbage_at_padding_does_not_count():
    batch, outputs = case(TARGETS)
    garbled = jnp.where((batch.targets == PAD)[:, :, None], jnp.nan, outputs.logits)
    np.testing.assert_array_equal(
        loss(batch, outputs._replace(logits=garbled)), loss(batch, outputs)
    )
