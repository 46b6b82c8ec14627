"""What the figures show of one trained network."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Example(NamedTuple):
    """One run on N test samples, teacher-forced.

    Words are text, one list a sample, without padding; `target_words` are what the decoder is to
    write, of the same lengths as what it reads. `attention` is each sample's and `mean_attention`
    its mean over the samples in which both positions are valid (NaN where there is none); both
    are None for a network without attention. `encoder_temporal` and `decoder_temporal` are the
    temporal parts of the states. `encoder_count[t]` and `decoder_count[s]` say how many samples
    reach a position. `label` tells the run from the other examples, as "aed, seed 0".
    """

    task: str
    architecture: str
    label: str
    encoder_words: list[list[str]]
    target_words: list[list[str]]
    attention: Float[np.ndarray, "N S T"] | None
    mean_attention: Float[np.ndarray, "S T"] | None
    encoder_temporal: Float[np.ndarray, "T H"]
    decoder_temporal: Float[np.ndarray, "S H"]
    encoder_count: Int[np.ndarray, " T"]
    decoder_count: Int[np.ndarray, " S"]

    @property
    def title(self) -> str:
        """Task and label."""
        return f"{self.task}, {self.label}"


def often_reached(count: Int[np.ndarray, " T"]) -> int:
    """How many leading positions at least half of the samples reach (every sample reaches the
    first)."""
    return int((2 * count >= count.max(initial=1)).sum())
