"""A split fitted on some samples and looked at on some: what the metrics of a split read.

In-sample, both are all samples. Crossed, the samples are halved, the split is fitted on one half
and looked at on the other, and the two values are averaged: a word seen once in-sample has an input
part equal to all that is left of its state, which is no evidence that the word matters.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from aedjax.analysis.attribution import Attribution, attribute
from aedjax.analysis.decomposition import fit, split
from aedjax.types import Batch, Components, States, Tables

Result = TypeVar("Result")

FITS: dict[str, Callable[[Array, Array], tuple[tuple[Array, Array], ...]]] = {
    "in_sample": lambda first, second: ((first | second, first | second),),
    "cross": lambda first, second: ((first, second), (second, first)),
}
"""By name: from two halves of the samples to pairs of those to fit on, those to look at."""


class Side(NamedTuple):
    """States of one kind, and the words that were read to make them."""

    states: Float[Array, "N T H"]
    words: Int[Array, "N T"]
    mask: Bool[Array, "N T"]


class Evaluation(NamedTuple):
    """A split of a network's states, on the samples it is looked at.

    `sides` and their `tables` and `components` go by name: encoder, decoder, and for a network
    with attention query and key. `scores` and `attention` are [N, S, T], `attribution` is theirs;
    all three are None without attention. The masks, of `sides` too, leave out the samples that
    are not looked at; components are 0 there.
    """

    sides: dict[str, Side]
    tables: dict[str, Tables]
    components: dict[str, Components]
    encoder_mask: Bool[Array, "N T"]
    decoder_mask: Bool[Array, "N S"]
    scores: Float[Array, "N S T"] | None
    attention: Float[Array, "N S T"] | None
    attribution: Attribution | None


def halves(batch: Batch) -> tuple[Bool[Array, " N"], Bool[Array, " N"]]:
    """Two halves of the samples, which depend neither on their order nor on padding.

    Samples are ordered by a hash of their words and dealt out in turn. (Two samples of 1,000 share
    a hash once in 10,000 batches; their order then decides.)
    """
    hashes = _hash(batch.encoder_words, batch.encoder_mask, 1) + _hash(
        batch.targets, batch.decoder_mask, 2
    )
    rank = jnp.argsort(jnp.argsort(hashes))
    return rank % 2 == 0, rank % 2 == 1


def sides_of(batch: Batch, states: States) -> dict[str, Side]:
    """The kinds of states that metrics need split, by name.

    With dot attention the queries are the decoder's states and the keys the encoder's.
    """
    read = {
        "encoder": (batch.encoder_words, batch.encoder_mask),
        "decoder": (batch.decoder_words, batch.decoder_mask),
    }
    kinds = {"encoder": (states.encoder, "encoder"), "decoder": (states.decoder, "decoder")}
    if states.query is not None and states.key is not None:
        kinds |= {"query": (states.query, "decoder"), "key": (states.key, "encoder")}
    return {name: Side(array, *read[side]) for name, (array, side) in kinds.items()}


def fit_sides(
    sides: dict[str, Side],
    samples: Bool[Array, " N"],
    method: str,
    vocabularies: dict[str, int],
) -> dict[str, Tables]:
    """The tables of every side, fitted on `samples`."""

    def fit_side(name: str) -> Tables:
        return fit(*_only(sides[name], samples), method, vocabularies[name])

    return _once(sides, fit_side)


def evaluate(
    sides: dict[str, Side],
    states: States,
    tables: dict[str, Tables],
    samples: Bool[Array, " N"],
) -> Evaluation:
    """The split of `samples` by fitted tables."""
    kept = {name: _only(side, samples) for name, side in sides.items()}
    components = _once(kept, lambda name: split(*kept[name], tables[name]))
    masks = kept["encoder"].mask, kept["decoder"].mask
    attribution = None
    if states.attention is not None:
        attribution = attribute(components["query"], components["key"], masks[1], masks[0])
    return Evaluation(
        kept, tables, components, *masks, states.scores, states.attention, attribution
    )


def _once(sides: dict[str, Side], make: Callable[[str], Result]) -> dict[str, Result]:
    """make(name) of every side, but only once of the same array: with dot attention, queries and
    the decoder's states are one, which XLA does not find out by itself."""
    made: dict[int, Result] = {}
    for name, side in sides.items():
        if id(side.states) not in made:
            made[id(side.states)] = make(name)
    return {name: made[id(side.states)] for name, side in sides.items()}


def _only(side: Side, samples) -> Side:
    return side._replace(mask=side.mask & samples[:, None])


def _hash(words, mask, salt: int) -> UInt32[Array, " N"]:
    """A sum over valid positions of a hash of the word, the position and the side."""
    positions = jnp.arange(words.shape[1], dtype=jnp.uint32)[None, :]
    keys = _mix(words.astype(jnp.uint32) + jnp.uint32(salt << 24)) + positions
    return jnp.sum(_mix(keys), axis=1, where=mask, dtype=jnp.uint32)


def _mix(x: UInt32[Array, "N T"]) -> UInt32[Array, "N T"]:
    """The last steps of MurmurHash3: every bit of x sways every bit of the result.

    Source: Appleby, MurmurHash3 (fmix32), public domain.
    """
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        x = (x ^ (x >> shift)) * jnp.uint32(factor)
    return x
