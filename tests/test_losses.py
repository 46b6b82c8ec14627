"""The cross-entropy that networks are trained by and measured by."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import log_softmax

from aedjax.losses import cross_entropy


def test_cross_entropy_is_the_reference_in_nats():
    logits = 5 * jax.random.normal(jax.random.key(0), (4, 3, 5))
    targets = jax.random.randint(jax.random.key(1), (4, 3), 0, 5)
    log_p = log_softmax(np.asarray(logits, np.float64), axis=-1)
    wanted = -np.take_along_axis(log_p, np.asarray(targets)[:, :, None], axis=-1).mean()
    found = cross_entropy(logits, targets, jnp.ones((4, 3), bool))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_cross_entropy_counts_valid_steps_alone():
    logits = jnp.zeros((2, 3, 5)).at[0, 0, 1].set(jnp.nan)
    targets = jnp.ones((2, 3), int)
    mask = jnp.array([[False, True, True], [True, False, False]])
    np.testing.assert_allclose(cross_entropy(logits, targets, mask), np.log(5), rtol=1e-6)
