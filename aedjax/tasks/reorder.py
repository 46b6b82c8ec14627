"""one_to_one, reverse and sort: word i becomes output word i, in an order that the task sets."""

import string
from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from aedjax.tasks.base import Task, TaskConfig
from aedjax.tasks.generated import below, generated_task, length_between
from aedjax.tasks.pairs import NO_SOURCE, Pairs, sentence
from aedjax.types import FIRST_WORD, PAD, SPECIAL_WORDS

Order = Callable[[Int[Array, " T"], Int[Array, ""]], Int[Array, " T"]]
"""order(words, length)[s] is the position t that target s comes from; identity from EOS on."""


def unchanged(words: Int[Array, " T"], length: Int[Array, ""]) -> Int[Array, " T"]:
    """s comes from s."""
    return jnp.arange(words.shape[0], dtype=jnp.int32)


def reversed_order(words: Int[Array, " T"], length: Int[Array, ""]) -> Int[Array, " T"]:
    """s comes from length − 1 − s (positions from 0), EOS from EOS."""
    position = jnp.arange(words.shape[0], dtype=jnp.int32)
    return jnp.where(position < length, length - 1 - position, position)


def sorted_order(words: Int[Array, " T"], length: Int[Array, ""]) -> Int[Array, " T"]:
    """s comes from the s-th smallest word by id; equal words keep their order."""
    position = jnp.arange(words.shape[0], dtype=jnp.int32)
    rank = jnp.where(position < length, words, jnp.iinfo(jnp.int32).max)
    return jnp.argsort(rank, stable=True).astype(jnp.int32)


ORDERS: dict[str, Order] = {
    "one_to_one": unchanged,
    "reverse": reversed_order,
    "sort": sorted_order,
}


def letters(i: int) -> str:
    """A name for word i = 0, 1, ...: a, b, ..., z, aa, ab, ...

    >>> [letters(i) for i in (0, 25, 26, 27, 702)]
    ['a', 'z', 'aa', 'ab', 'aaa']
    """
    name = ""
    while i >= 0:
        i, letter = divmod(i, 26)
        name = string.ascii_lowercase[letter] + name
        i -= 1
    return name


def reorder_law(order: Order, config: TaskConfig, bits: UInt32[Array, " R"]) -> Pairs:
    """One pair: a uniform length, uniform words, and their image in the task's order."""
    length = length_between(bits[0], config)
    words = sentence(FIRST_WORD + below(bits[1:], config.num_words), length)
    sources = order(words, length)
    return Pairs(words, words[sources], jnp.where(words != PAD, sources, NO_SOURCE))


def make_reorder(config: TaskConfig) -> Task:
    """The task of `config.name`, a key of `ORDERS`."""
    inputs = tuple(letters(i) for i in range(config.num_words))
    outputs = tuple(word.upper() for word in inputs)
    length = config.max_length + 1
    return generated_task(
        config.name,
        (SPECIAL_WORDS + inputs, SPECIAL_WORDS + outputs),
        (length, length),
        partial(reorder_law, ORDERS[config.name], config),
        numbers=1 + length,
    )
