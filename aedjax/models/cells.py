"""Recurrent cells: one step of N states, given inputs that are already projected.

A step reads x = W e + b, one block of H columns a gate, so that a vocabulary is projected once
(V rows) and then looked up, instead of projecting every token. σ is the logistic function, ⊙ the
product by element, U_g the block of the recurrent kernel that belongs to gate g.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Carry = tuple[Float[Array, "N H"], ...]
"""What a cell hands to its next step; the first array is the state h."""


class CellWeights(NamedTuple):
    """A cell's own weights: one block of H columns a gate, and a bias inside the candidate."""

    recurrent: Float[Array, "H GH"]
    candidate_bias: Float[Array, " H"]


class Cell(NamedTuple):
    """A kind of cell: its number of gates and carried arrays, its step, its first input bias.

    `input_bias[g]` is the initial bias of gate g. `has_candidate_bias` says whether the step
    uses `CellWeights.candidate_bias` (the gru does: its reset gate multiplies that bias).
    """

    gates: int
    carries: int
    step: Callable[[CellWeights, Float[Array, "N GH"], Carry], Carry]
    input_bias: tuple[float, ...]
    has_candidate_bias: bool = False


def gru(weights: CellWeights, x: Float[Array, "N GH"], carry: Carry) -> Carry:
    """Gated recurrent unit, the variant of Flax `GRUCell` and `torch.nn.GRU`.

    r = σ(x_r + U_r h), z = σ(x_z + U_z h), n = tanh(x_n + r ⊙ (U_n h + c)),
    h' = (1 − z) ⊙ n + z ⊙ h.

    Source: Cho et al. 2014, arXiv 1406.1078, with the bias c inside the reset product.
    """
    (h,) = carry
    x_r, x_z, x_n = jnp.split(x, 3, axis=-1)
    u_r, u_z, u_n = jnp.split(h @ weights.recurrent, 3, axis=-1)
    r = jax.nn.sigmoid(x_r + u_r)
    z = jax.nn.sigmoid(x_z + u_z)
    n = jnp.tanh(x_n + r * (u_n + weights.candidate_bias[None, :]))
    return ((1 - z) * n + z * h,)


def lstm(weights: CellWeights, x: Float[Array, "N GH"], carry: Carry) -> Carry:
    """Long short-term memory; the analysed state is h.

    i, f, o = σ(x + U h), g = tanh(x_g + U_g h), c' = f ⊙ c + i ⊙ g, h' = o ⊙ tanh(c').

    Source: Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.
    """
    h, c = carry
    i, f, g, o = jnp.split(x + h @ weights.recurrent, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def ugrnn(weights: CellWeights, x: Float[Array, "N GH"], carry: Carry) -> Carry:
    """Update-gate recurrent network: one gate mixes the old state with the candidate.

    z = σ(x_z + U_z h), n = tanh(x_n + U_n h), h' = z ⊙ h + (1 − z) ⊙ n; the bias of z starts
    at 1, so that a fresh cell remembers.

    Source: Collins, Sohl-Dickstein and Sussillo 2017, arXiv 1611.09913.
    """
    (h,) = carry
    z, n = jnp.split(x + h @ weights.recurrent, 2, axis=-1)
    z = jax.nn.sigmoid(z)
    return (z * h + (1 - z) * jnp.tanh(n),)


def vanilla(weights: CellWeights, x: Float[Array, "N H"], carry: Carry) -> Carry:
    """Elman's network: h' = tanh(x + U h). Source: Elman 1990."""
    (h,) = carry
    return (jnp.tanh(x + h @ weights.recurrent),)


CELLS: dict[str, Cell] = {
    "gru": Cell(3, 1, gru, (0.0, 0.0, 0.0), has_candidate_bias=True),
    "lstm": Cell(4, 2, lstm, (0.0, 0.0, 0.0, 0.0)),
    "ugrnn": Cell(2, 1, ugrnn, (1.0, 0.0)),
    "vanilla": Cell(1, 1, vanilla, (0.0,)),
}
