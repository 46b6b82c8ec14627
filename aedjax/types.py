"""The words every other module speaks: special ids, batches, states, components.

A leaf: it imports nothing of aedjax. Notation follows the paper (Aitken et al. 2021): sample n,
encoder position t = 1..T, decoder position s = 1..S. Arrays are padded to a common T and S with
`PAD`; a position is *valid* where its word is not `PAD`.
"""

from typing import NamedTuple

from jaxtyping import Array, Bool, Float, Int

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_WORDS = ("<pad>", "<bos>", "<eos>", "<unk>")
FIRST_WORD = len(SPECIAL_WORDS)
"""The id of the first ordinary word of a vocabulary."""

PARTS = ("temporal", "input", "delta")
"""The parts of a state, in the order of every array with a part axis."""


class Batch(NamedTuple):
    """N samples of a task, padded. Inputs and targets end in `EOS`.

    `decoder_words` are what the decoder reads: `BOS`, then the targets but the last.
    `alignment[n, s, t]` is true where encoder position t is a true source of target s; a step
    without any is left out of alignment metrics. It is None where the task knows no alignment.
    """

    encoder_words: Int[Array, "N T"]
    decoder_words: Int[Array, "N S"]
    targets: Int[Array, "N S"]
    alignment: Bool[Array, "N S T"] | None

    @property
    def encoder_mask(self) -> Bool[Array, "N T"]:
        """True at valid encoder positions."""
        return self.encoder_words != PAD

    @property
    def decoder_mask(self) -> Bool[Array, "N S"]:
        """True at valid decoder positions."""
        return self.targets != PAD


class States(NamedTuple):
    """What a network computes on the way from words to logits.

    scores_st = query_s · key_t; attention = softmax of the scores over valid t (0 elsewhere);
    context_s = Σ_t attention_st value_t. With dot attention query is `decoder`, key and value are
    `encoder`. Networks without attention leave the last six None.
    """

    encoder: Float[Array, "N T H"]
    decoder: Float[Array, "N S H"]
    query: Float[Array, "N S H"] | None = None
    key: Float[Array, "N T H"] | None = None
    value: Float[Array, "N T H"] | None = None
    scores: Float[Array, "N S T"] | None = None
    attention: Float[Array, "N S T"] | None = None
    context: Float[Array, "N S H"] | None = None


class Readout(NamedTuple):
    """The linear map to logits: logits_s = decoder_s · decoder + context_s · context + bias.

    `decoder` is zero for a network that reads out the context alone; `context` is None for one
    without attention.
    """

    decoder: Float[Array, "H V"]
    context: Float[Array, "H V"] | None
    bias: Float[Array, " V"]


class Outputs(NamedTuple):
    """Logits over the output vocabulary, and the states they came from."""

    logits: Float[Array, "N S V"]
    states: States


class Tables(NamedTuple):
    """A fitted split of states: one vector a position and one a word.

    `occurrences[x]` is how many valid states of the fitted samples carry word x; a word that never
    occurs has `input` 0, a position that no fitted sample reaches has `temporal` 0.
    """

    temporal: Float[Array, "T H"]
    input: Float[Array, "X H"]
    occurrences: Int[Array, " X"]


class Components(NamedTuple):
    """The three parts of every state: temporal + input + delta = state; 0 at padding."""

    temporal: Float[Array, "N T H"]
    input: Float[Array, "N T H"]
    delta: Float[Array, "N T H"]
