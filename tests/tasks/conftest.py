"""Every task of the table, small, with one large training batch each."""

from pathlib import Path

import jax
import numpy as np
import pytest

from aedjax.tasks import TASKS, Task, TaskConfig, make_task
from aedjax.types import FIRST_WORD, Batch

SHARED_SCAN = Path(__file__).parents[3] / "shared" / "data" / "scan"
SAMPLES = 2048


def small(name: str) -> TaskConfig:
    """The configuration of a task that every test over the table uses."""
    return TaskConfig(name=name, num_words=4, min_length=3, max_length=7)


def on_host(batch: Batch) -> Batch:
    """The batch as NumPy arrays."""
    return jax.tree.map(np.asarray, batch)


def spoken(vocabulary: tuple[str, ...], ids: np.ndarray) -> list[str]:
    """The ordinary words of a sentence."""
    return [vocabulary[i] for i in ids if i >= FIRST_WORD]


@pytest.fixture(scope="session", params=list(TASKS))
def task(request) -> Task:
    """Each task of the table in turn."""
    return make_task(small(request.param))


@pytest.fixture(scope="session")
def batch(task) -> Batch:
    """A training batch of the task, on the host."""
    return on_host(task.sample(jax.random.key(0), SAMPLES))
