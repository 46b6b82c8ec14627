"""AO: attention only. Without recurrence, a state knows its word and its place, nothing else."""

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from aedjax.models.cells import Carry
from aedjax.models.config import ModelConfig
from aedjax.models.layers import Attention, FeedForward, Memory, fan_in
from aedjax.types import Outputs, Readout, States


class AO(nn.Module):
    """h^E_t = tanh(W_E (e(x_t) + p_t) + b), h^D_s likewise; logits = W_C c_s + b.

    The decoder's state asks for attention but is not read out. Source: section 2 of the paper.
    """

    config: ModelConfig
    encoder_vocabulary: int
    decoder_vocabulary: int

    def setup(self) -> None:
        shape = (self.config.hidden_size, self.decoder_vocabulary)
        self.encoder = FeedForward(self.config, self.encoder_vocabulary)
        self.decoder = FeedForward(self.config, self.decoder_vocabulary)
        self.attention = Attention(self.config)
        self.readout_context = self.param("readout_context", fan_in, shape)
        self.readout_bias = self.param("readout_bias", nn.initializers.zeros, shape[1:])

    def encode(self, words: Int[Array, "N T"], mask: Bool[Array, "N T"]) -> Memory:
        """Read the input."""
        return Memory(self.encoder(words), mask, ())

    def decode(
        self,
        words: Int[Array, "N S"],
        mask: Bool[Array, "N S"],
        carry: Carry,
        position: Int[Array, ""] | int = 0,
    ) -> tuple[Float[Array, "N S H"], Carry]:
        """The decoder's states of words that stand from `position` on; nothing is carried."""
        return self.decoder(words, position), carry

    def read(self, decoder: Float[Array, "N S H"], memory: Memory) -> Outputs:
        """Logits from the contexts that the decoder's states attend to."""
        attended = self.attention(decoder, memory)
        logits = attended["context"] @ self.readout_context + self.readout_bias[None, None, :]
        return Outputs(logits, States(memory.states, decoder, **attended))

    def readout(self) -> Readout:
        """The weights from states to logits; the decoder's are zero."""
        return Readout(
            jnp.zeros_like(self.readout_context), self.readout_context, self.readout_bias
        )
