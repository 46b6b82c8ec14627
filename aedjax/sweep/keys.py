"""The sources of chance of a member: a key for its data and a key for its parameters.

key = fold_in(fold_in(key(root seed), w₁), w₂), with (w₁, w₂) two words of a stable hash of what
the key may depend on: seed and task for the data, seed and the model's static fields for the
parameters. So members of one seed share their data across architectures, and their initial
parameters across traced settings and training; no key depends on which other members there are.
"""

from collections.abc import Sequence
from functools import partial

import jax
import numpy as np
from jaxtyping import Array, Key, UInt32

from aedjax.models.config import ModelConfig, resolved
from aedjax.sweep.identity import stable_words, static_settings, used_settings
from aedjax.sweep.spec import Member
from aedjax.tasks.base import TaskConfig
from aedjax.training import MemberKeys


def data_words(seed: int, task: TaskConfig) -> tuple[int, int]:
    """The two words of a data key: they depend on seed and the fields that the task uses."""
    return stable_words("data", seed, used_settings(task))


def init_words(seed: int, model: ModelConfig) -> tuple[int, int]:
    """The two words of an initialisation key: they depend on seed and the static fields that the
    architecture uses."""
    return stable_words("init", seed, static_settings(resolved(model)))


def data_key(root_seed: int, seed: int, task: TaskConfig) -> Key[Array, ""]:
    """The key of everything that is drawn for a member's training batches."""
    return _folded(root_seed, [data_words(seed, task)])[0]


def init_key(root_seed: int, seed: int, model: ModelConfig) -> Key[Array, ""]:
    """The key of a member's initial parameters."""
    return _folded(root_seed, [init_words(seed, model)])[0]


def member_keys(members: Sequence[Member], root_seed: int) -> MemberKeys:
    """The keys of K members, each of the two an array [K]; one compilation for every K."""
    data = [data_words(member.seed, member.task) for member in members]
    init = [init_words(member.seed, member.model) for member in members]
    return MemberKeys(_folded(root_seed, data), _folded(root_seed, init))


def _folded(root_seed: int, words: Sequence[tuple[int, int]]) -> Key[Array, " K"]:
    return _fold(jax.random.key(root_seed), np.array(words, np.uint32))


@jax.jit
@partial(jax.vmap, in_axes=(None, 0))
def _fold(root: Key[Array, ""], words: UInt32[np.ndarray | Array, "2"]) -> Key[Array, ""]:
    return jax.random.fold_in(jax.random.fold_in(root, words[0]), words[1])
