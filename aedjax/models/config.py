"""What a network is: its architecture, cell, attention and sizes."""

from dataclasses import dataclass, replace

from aedjax.fields import Static, Traced, setting
from aedjax.models.attention import ATTENTIONS
from aedjax.models.cells import CELLS


@dataclass(frozen=True)
class ModelConfig:
    """The `[model]` section of a spec."""

    architecture: Static[str] = setting("aed", "ved, aed or ao")
    cell: Static[str] = setting("gru", "recurrent cell of ved and aed", choices=tuple(CELLS))
    attention: Static[str] = setting("dot", "attention of aed and ao", choices=tuple(ATTENTIONS))
    hidden_size: Static[int] = setting(64, "units of every state", at_least=1, at_most=65_536)
    embedding_size: Static[int | None] = setting(
        None, "units of every word embedding; hidden_size unless given", at_least=1, at_most=65_536
    )
    embedding_scale: Traced[float] = setting(
        0.1, "standard deviation of the initial embeddings", at_least=0.0
    )


def resolved(config: ModelConfig) -> ModelConfig:
    """The same network with every default that depends on another field written out."""
    return replace(config, embedding_size=config.embedding_size or config.hidden_size)
