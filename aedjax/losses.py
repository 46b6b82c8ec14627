"""What a network is trained by, and measured by: the cross-entropy of the next word."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int


def cross_entropy(
    logits: Float[Array, "N S V"], targets: Int[Array, "N S"], mask: Bool[Array, "N S"]
) -> Float[Array, ""]:
    """Mean over valid steps of −log softmax(logits)[target], in nats."""
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return jnp.mean(losses, where=mask)
