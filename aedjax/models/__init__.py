"""Networks as pairs of pure functions: parameters from a key, outputs from parameters and words.

To add an architecture, write a Linen module with the methods of `VED` (encode, decode, read,
readout) in a file of its own, and add one line to `MODELS`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aedjax.errors import unknown
from aedjax.models.aed import AED
from aedjax.models.ao import AO
from aedjax.models.cells import Carry
from aedjax.models.config import ModelConfig
from aedjax.models.layers import Memory
from aedjax.models.ved import VED
from aedjax.types import FIRST_WORD, PAD, Batch, Outputs, Readout

Params = Any
"""A nested dictionary of float arrays, by layer and name."""


class Architecture(NamedTuple):
    """A line of the table: the module, the `ModelConfig` fields it uses, what it is."""

    module: type[nn.Module]
    uses: tuple[str, ...]
    attends: bool
    summary: str


SIZES = ("hidden_size", "embedding_size", "embedding_scale")
MODELS: dict[str, Architecture] = {
    "ved": Architecture(VED, ("cell", *SIZES), False, "recurrent, no attention"),
    "aed": Architecture(AED, ("cell", "attention", *SIZES), True, "recurrent, with attention"),
    "ao": Architecture(AO, ("attention", *SIZES), True, "attention only, no recurrence"),
}


class Model(NamedTuple):
    """A network as pure functions of its parameters.

    init(key, embedding_scale) gives parameters. apply(params, batch) reads a batch teacher-forced.
    encode(params, words) and step(params, memory, carry, word, position) do the same one decoder
    word at a time: a step gives the logits after `word`, and the next carry; the first carry is
    `memory.carry`. readout(params) is the linear map from states to logits.
    """

    config: ModelConfig
    init: Callable[[Array, Float[Array, ""] | float], Params]
    apply: Callable[[Params, Batch], Outputs]
    encode: Callable[[Params, Int[Array, "N T"]], Memory]
    step: Callable[..., tuple[Float[Array, "N V"], Carry]]
    readout: Callable[[Params], Readout]


def check_model(config: ModelConfig) -> None:
    """Raise InputError for an architecture that is not in the table."""
    if config.architecture not in MODELS:
        raise unknown("model.architecture", config.architecture, MODELS)


def make_model(config: ModelConfig, encoder_vocabulary: int, decoder_vocabulary: int) -> Model:
    """The network of `config` for vocabularies of these sizes (special words counted).

    Raises:
        InputError: for an unknown architecture.
    """
    check_model(config)
    module: Any = MODELS[config.architecture].module(config, encoder_vocabulary, decoder_vocabulary)

    def forced(module, batch: Batch) -> Outputs:
        memory = module.encode(batch.encoder_words, batch.encoder_mask)
        decoder, _ = module.decode(batch.decoder_words, batch.decoder_mask, memory.carry)
        return module.read(decoder, memory)

    def init(key, embedding_scale) -> Params:
        word = jnp.full((1, 1), FIRST_WORD)
        params = module.init(key, Batch(word, word, word, None), method=forced)["params"]
        for side in ("encoder", "decoder"):
            params[side]["embedding"] *= embedding_scale
        return params

    def apply(params, batch) -> Outputs:
        return module.apply({"params": params}, batch, method=forced)

    def encode(params, words) -> Memory:
        return module.apply({"params": params}, words, words != PAD, method="encode")

    def step(params, memory, carry, word, position) -> tuple[Float[Array, "N V"], Carry]:
        def one(module):
            valid = jnp.ones_like(word, bool)[:, None]
            decoder, after = module.decode(word[:, None], valid, carry, position)
            return module.read(decoder, memory).logits[:, 0], after

        return module.apply({"params": params}, method=one)

    def readout(params) -> Readout:
        return module.apply({"params": params}, method="readout")

    return Model(config, init, apply, encode, step, readout)
