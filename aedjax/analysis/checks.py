"""What `decompose` and `attribute` ask of a user's arrays, before anything is computed."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

from aedjax.errors import InputError, shown

Given = Shaped[Array | np.ndarray, "..."] | list
"""What a user hands in: an array of any shape and type, or nested lists."""

MOST_WORDS = 2**24
"""The largest vocabulary: a split keeps a row of a table for every id up to the largest."""


def known(array: Any) -> Any:
    """An array as it is, or made of nested lists; under jit what stands for it."""
    return array if isinstance(array, jax.Array | np.ndarray) else np.asarray(array)


def check_states(name: str, states: Any) -> None:
    """Raise InputError unless these are states [samples, positions, units] in floating point."""
    if states.ndim != 3:
        raise InputError(f"{name} has shape {states.shape}; use [samples, positions, units]")
    if not jnp.issubdtype(states.dtype, jnp.floating):
        raise InputError(f"{name} has type {states.dtype}; use floating point")


def check_mask(name: str, mask: Any, shape: tuple[int, ...], of: str) -> None:
    """Raise InputError unless this is a mask of a shape, which is that `of` something."""
    _check_shape(name, mask, shape, of)
    if mask.dtype != jnp.bool_:
        raise InputError(f"{name} has type {mask.dtype}; use true or false")


def check_words(words: Any, shape: tuple[int, ...], of: str) -> None:
    """Raise InputError unless these are ids of a shape, which is that `of` something."""
    _check_shape("words", words, shape, of)
    if not jnp.issubdtype(words.dtype, jnp.integer):
        raise InputError(f"words has type {words.dtype}; use whole numbers")


def _check_shape(name: str, array: Any, shape: tuple[int, ...], of: str) -> None:
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; use {shape}, {of}")


def checked_vocabulary(words: Any, mask: Any, vocabulary: Any) -> int:
    """The number of words: as given, or what the ids of valid positions need.

    Raises:
        InputError: for a number that is none or too small, and for ids out of range; ids are
            looked at only outside jit.
    """
    if vocabulary is not None and (type(vocabulary) is not int or vocabulary < 1):
        raise InputError(f"vocabulary = {shown(vocabulary)} is no number of words; use 1 or more")
    if isinstance(words, jax.core.Tracer) or isinstance(mask, jax.core.Tracer):
        if vocabulary is None:
            raise InputError("vocabulary = None under jit; give the number of words")
        return vocabulary
    valid = np.asarray(words)[np.asarray(mask)]
    if valid.size and valid.min() < 0:
        raise InputError(f"words has the id {valid.min()}; use ids from 0, or mask the position")
    largest = int(valid.max(initial=0))
    if largest >= (vocabulary or MOST_WORDS):
        below = f"vocabulary = {vocabulary}, or raise it" if vocabulary else f"{MOST_WORDS:,}"
        raise InputError(f"words has the id {largest}; use ids below {below}")
    return largest + 1 if vocabulary is None else vocabulary
