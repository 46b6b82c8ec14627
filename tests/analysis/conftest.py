"""`measure` compiled once for all tests that use it."""

import functools

import jax
import numpy as np
import pytest

from aedjax.analysis import measure
from tests.analysis.synthetic import VOCABULARY, device, make_batch, make_outputs

METHODS, FITS = ("sequential", "joint"), ("in_sample", "cross")
_measure = jax.jit(measure, static_argnums=(2, 3, 4, 5))


def measured(batch, outputs, dtype=np.float64):
    """Every metric by every method and fit, as NumPy arrays, computed in `dtype`."""
    with jax.enable_x64(dtype == np.float64):
        arguments = device((batch, outputs), dtype)
        return jax.tree.map(np.asarray, _measure(*arguments, METHODS, FITS, VOCABULARY, VOCABULARY))


@pytest.fixture(scope="session")
def sample():
    """From a seed to a random batch and the outputs of a network with learned attention."""

    @functools.cache
    def make(seed: int):
        rng = np.random.default_rng(seed)
        batch = make_batch(rng)
        return batch, make_outputs(rng, batch, learned=True)

    return make
