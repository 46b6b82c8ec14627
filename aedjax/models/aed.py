"""AED: the encoder-decoder with attention. It can look at every encoder state."""

from jaxtyping import Array, Float

from aedjax.models.layers import Attention, Memory, fan_in
from aedjax.models.ved import VED
from aedjax.types import Outputs, Readout, States


class AED(VED):
    """VED's recurrences, plus a context c_s: logits = W_D h^D_s + W_C c_s + b.

    Source: Bahdanau et al. 2015, arXiv 1409.0473, with the dot score of Luong et al. 2015;
    section 2 of the paper.
    """

    def setup(self) -> None:
        super().setup()
        self.attention = Attention(self.config)
        self.readout_context = self.param(
            "readout_context", fan_in, (self.config.hidden_size, self.decoder_vocabulary)
        )

    def read(self, decoder: Float[Array, "N S H"], memory: Memory) -> Outputs:
        """Logits from the decoder's states and the contexts they attend to."""
        attended = self.attention(decoder, memory)
        logits = (
            decoder @ self.readout_decoder
            + attended["context"] @ self.readout_context
            + self.readout_bias[None, None, :]
        )
        return Outputs(logits, States(memory.states, decoder, **attended))

    def readout(self) -> Readout:
        """The weights from states to logits."""
        return Readout(self.readout_decoder, self.readout_context, self.readout_bias)
