"""Tasks that need no data: from the law of one sample to a task.

A law is a function of `numbers` random 32-bit words: it says what one sample is, and is the same
for training draws, whose words come from a JAX key, and for the test set, whose words come from
NumPy's PCG64 stream, so that it never depends on JAX's version, settings or device.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, UInt32

from aedjax.errors import InputError
from aedjax.tasks.base import Task, TaskConfig
from aedjax.tasks.pairs import Pairs, as_batch
from aedjax.types import Batch

TEST_SEED = 211015253
"""The seed of every generated test set."""


def check_lengths(config: TaskConfig) -> None:
    """Raise InputError where no length is between `min_length` and `max_length`."""
    if config.min_length > config.max_length:
        raise InputError(
            f"task.min_length = {config.min_length} is above task.max_length = "
            f"{config.max_length}; lower the first or raise the second"
        )


def below(bits: UInt32[Array, "*N"], limit: Int[Array, "*N"] | int) -> Int[Array, "*N"]:
    """A number in 0..limit − 1 from 32 random bits, uniform to within limit / 2³²."""
    return (bits % jnp.asarray(limit, jnp.uint32)).astype(jnp.int32)


def length_between(bits: UInt32[Array, ""], config: TaskConfig) -> Int[Array, ""]:
    """A uniform length in `min_length`..`max_length`."""
    return config.min_length + below(bits, config.max_length - config.min_length + 1)


def fixed_bits(n: int, numbers: int) -> UInt32[np.ndarray, "N R"]:
    """The random words of the first n test samples."""
    raw = np.random.PCG64(TEST_SEED).random_raw(n * numbers)
    return (raw >> np.uint64(32)).astype(np.uint32).reshape(n, numbers)


def generated_task(
    name: str,
    vocabularies: tuple[tuple[str, ...], tuple[str, ...]],
    lengths: tuple[int, int],
    law: Callable[[UInt32[Array, " R"]], Pairs],
    numbers: int,
) -> Task:
    """The task whose samples are independent, each the pair that `law` makes of R random words.

    `vocabularies` and `lengths` are the encoder's and the decoder's. The test set has no end.
    """

    @jax.jit
    def made(bits: UInt32[Array, "N R"]) -> Batch:
        return as_batch(jax.vmap(law)(bits))

    def draw(data: tuple[()], key: Key[Array, ""], n: int) -> Batch:
        return made(jax.random.bits(key, (n, numbers), jnp.uint32))

    return Task(
        name=name,
        encoder_vocabulary=vocabularies[0],
        decoder_vocabulary=vocabularies[1],
        encoder_length=lengths[0],
        decoder_length=lengths[1],
        has_alignment=True,
        data=(),
        draw=draw,
        test=lambda n: made(jnp.asarray(fixed_bits(n, numbers))),
    )
