"""How much of the test set a network has seen: generated tasks draw both from one law."""

import sys

import jax
import numpy as np
from jaxtyping import Array, Key

from aedjax.tasks.base import Task
from aedjax.tasks.pairs import Pairs

TEST_SAMPLES = 4096
"""How many test samples of a generated task are looked up."""


def train_test_overlap(task: Task, key: Key[Array, ""], samples: int) -> float:
    """The share of test inputs that occur among `samples` training draws, in [0, 1].

    A task that stores its pairs is compared whole, its training set with its test set: `key` and
    `samples` then play no part. For a generated task it is an estimate from the first
    `TEST_SAMPLES` test samples.
    """
    stored = isinstance(task.data, Pairs)
    if stored:
        train = task.data.encoder_words
    else:
        train = jax.jit(lambda k: task.draw(task.data, k, samples).encoder_words)(key)
    test = task.test(sys.maxsize if stored else TEST_SAMPLES).encoder_words
    seen = {row.tobytes() for row in np.asarray(train)}
    return float(np.mean([row.tobytes() in seen for row in np.asarray(test)]))
