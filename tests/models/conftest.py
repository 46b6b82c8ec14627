"""One small batch with samples of every length, for all model tests."""

import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.types import BOS, EOS, FIRST_WORD, PAD, Batch

LONGEST = 6
VOCABULARY = 9


def ragged(rng: np.random.Generator, lengths: np.ndarray, width: int) -> np.ndarray:
    """Random words ending in EOS at the given lengths (EOS counted), padded to `width`."""
    words = rng.integers(FIRST_WORD, VOCABULARY, (len(lengths), width))
    place = np.arange(width)[None, :]
    words = np.where(place < lengths[:, None] - 1, words, PAD)
    return np.where(place == lengths[:, None] - 1, EOS, words)


@pytest.fixture(scope="session")
def batch() -> Batch:
    """Twelve samples: input and target lengths each run through 1..6."""
    rng = np.random.default_rng(0)
    lengths = np.arange(12) % LONGEST + 1
    encoder = ragged(rng, lengths, LONGEST)
    targets = ragged(rng, lengths[::-1], LONGEST)
    decoder = np.concatenate([np.full((12, 1), BOS), targets[:, :-1]], axis=1)
    decoder = np.where(targets != PAD, decoder, PAD)
    return Batch(jnp.asarray(encoder), jnp.asarray(decoder), jnp.asarray(targets), None)
