"""VED: the vanilla encoder-decoder. All it keeps of the input is its last encoder state."""

import flax.linen as nn
from jaxtyping import Array, Bool, Float, Int

from aedjax.models.cells import Carry
from aedjax.models.config import ModelConfig
from aedjax.models.layers import Memory, Recurrence, fan_in
from aedjax.types import Outputs, Readout, States


class VED(nn.Module):
    """h^E_t = F_E(x_t, h^E_{t−1}); h^D_s = F_D(y_s, h^D_{s−1}), h^D_0 the last valid h^E;
    logits = W h^D_s + b.

    Source: Sutskever et al. 2014, arXiv 1409.3215; section 2 of the paper.
    """

    config: ModelConfig
    encoder_vocabulary: int
    decoder_vocabulary: int

    def setup(self) -> None:
        shape = (self.config.hidden_size, self.decoder_vocabulary)
        self.encoder = Recurrence(self.config, self.encoder_vocabulary)
        self.decoder = Recurrence(self.config, self.decoder_vocabulary)
        self.readout_decoder = self.param("readout_decoder", fan_in, shape)
        self.readout_bias = self.param("readout_bias", nn.initializers.zeros, shape[1:])

    def encode(self, words: Int[Array, "N T"], mask: Bool[Array, "N T"]) -> Memory:
        """Read the input."""
        states, carry = self.encoder(words, mask, self.encoder.initial(words.shape[0]))
        return Memory(states, mask, carry)

    def decode(
        self,
        words: Int[Array, "N S"],
        mask: Bool[Array, "N S"],
        carry: Carry,
        position: Int[Array, ""] | int = 0,
    ) -> tuple[Float[Array, "N S H"], Carry]:
        """The decoder's states after `carry`; a recurrent decoder needs no `position`."""
        return self.decoder(words, mask, carry)

    def read(self, decoder: Float[Array, "N S H"], memory: Memory) -> Outputs:
        """Logits from the decoder's states."""
        logits = decoder @ self.readout_decoder + self.readout_bias[None, None, :]
        return Outputs(logits, States(memory.states, decoder))

    def readout(self) -> Readout:
        """The weights from states to logits."""
        return Readout(self.readout_decoder, None, self.readout_bias)
