"""Training one network: Adam on the cross-entropy of the next word, in one compiled loop.

Everything here is for one member of a sweep; the engine maps it over members. There is no I/O.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from aedjax.fields import Static, Traced, setting
from aedjax.losses import cross_entropy
from aedjax.models import Model, Params
from aedjax.types import Batch

DIVERGED_LOSS = 1e6
"""Nats a step above which a member counts as diverged. Guessing costs log V; saturated cells keep
the loss of weights blown up to 1e30 finite, so to ask for NaN alone would call them sound."""


@dataclass(frozen=True)
class TrainConfig:
    """The `[train]` section of a spec."""

    steps: Static[int] = setting(1500, "training steps", at_least=0, at_most=2**31 - 1)
    batch_size: Static[int] = setting(64, "samples a step", at_least=1, at_most=2**20)
    dtype: Static[str] = setting(
        "float32", "type of the training arithmetic", choices=("float32", "bfloat16")
    )
    learning_rate: Traced[float] = setting(0.003, "Adam's step size", above=0.0, at_most=1e37)
    learning_rate_decay: Traced[float] = setting(
        1.0, "factor on the learning rate at every step", above=0.0, at_most=1.0
    )
    weight_decay: Traced[float] = setting(0.0, "decoupled weight decay", at_least=0.0)
    clip_norm: Traced[float] = setting(1.0, "largest global norm of the gradient", above=0.0)


class MemberKeys(NamedTuple):
    """The two sources of chance of a member: the data it sees, the parameters it starts from."""

    data: Array
    init: Array


Hyperparameters = dict[str, Float[Array, ""]]
"""The traced fields of `ModelConfig` and `TrainConfig`, by name."""


class TrainState(NamedTuple):
    """A member in training. `diverged_at` is the first step whose loss is not below
    `DIVERGED_LOSS` or whose gradient is not finite, −1 as long as there is none."""

    params: Params
    moments: optax.ScaleByAdamState
    step: Int[Array, ""]
    diverged_at: Int[Array, ""]


class Train(NamedTuple):
    """Training as two pure functions of one member.

    start(keys, hyperparameters) gives the untrained member; advance(state, keys, hyperparameters,
    data, until) trains it until step `until` has been reached. `until` is traced: one compiled
    program serves every stretch, and stretches compose bit for bit.
    """

    start: Callable[[MemberKeys, Hyperparameters], TrainState]
    advance: Callable[[TrainState, MemberKeys, Hyperparameters, Any, Int[Array, ""]], TrainState]


def make_train(
    config: TrainConfig, draw: Callable[[Any, Array, int], Batch], model: Model
) -> Train:
    """Training of `model` on batches from `draw(data, key, batch_size)`.

    Step i reads the batch of fold_in(data key, i), so the data of a member does not depend on how
    its training is cut into stretches. The update is AdamW's: with the gradient g clipped to
    global norm `clip_norm` and m, v its bias-corrected moments,
    θ ← θ − η δ^i (m / (√v + 1e-8) + λ θ), η the learning rate, δ its decay, λ the weight decay.

    Source: Kingma and Ba 2015, arXiv 1412.6980; Loshchilov and Hutter 2019, arXiv 1711.05101.
    """
    adam = optax.scale_by_adam()
    dtype = jnp.dtype(config.dtype)

    def loss(params: Params, batch: Batch) -> Float[Array, ""]:
        lowered = jax.tree.map(lambda leaf: leaf.astype(dtype), params)
        logits = model.apply(lowered, batch).logits.astype(jnp.float32)
        return cross_entropy(logits, batch.targets, batch.decoder_mask)

    def start(keys: MemberKeys, hyperparameters: Hyperparameters) -> TrainState:
        params = model.init(keys.init, hyperparameters["embedding_scale"])
        return TrainState(params, adam.init(params), jnp.int32(0), jnp.int32(-1))

    def step(state: TrainState, keys: MemberKeys, hyperparameters: Hyperparameters, data):
        batch = draw(data, jax.random.fold_in(keys.data, state.step), config.batch_size)
        value, gradient = jax.value_and_grad(loss)(state.params, batch)
        norm = optax.tree.norm(gradient)
        shrink = jnp.minimum(1.0, hyperparameters["clip_norm"] / norm)
        gradient = jax.tree.map(lambda leaf: leaf * shrink, gradient)
        direction, moments = adam.update(gradient, state.moments)
        decay = hyperparameters["learning_rate_decay"] ** state.step
        rate = hyperparameters["learning_rate"] * decay
        params = jax.tree.map(
            lambda leaf, move: leaf - rate * (move + hyperparameters["weight_decay"] * leaf),
            state.params,
            direction,
        )
        healthy = (value < DIVERGED_LOSS) & jnp.isfinite(norm)  # false for a loss that is NaN
        first = ~healthy & (state.diverged_at < 0)
        diverged_at = jnp.where(first, state.step, state.diverged_at)
        return TrainState(params, moments, state.step + 1, diverged_at)

    def advance(state, keys, hyperparameters, data, until) -> TrainState:
        return jax.lax.while_loop(
            lambda state: state.step < until,
            lambda state: step(state, keys, hyperparameters, data),
            state,
        )

    return Train(start, advance)
