"""Every cell against an independent one: Flax's where there is one, else NumPy."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.models.cells import CELLS, CellWeights

H, E, N = 5, 4, 3


@pytest.fixture
def drawn(x64):
    rng = np.random.default_rng(1)
    cell_inputs = {
        name: {
            "W": rng.normal(size=(E, cell.gates * H)),
            "b": rng.normal(size=cell.gates * H),
            "U": rng.normal(size=(H, cell.gates * H)),
            "c": rng.normal(size=H),
        }
        for name, cell in CELLS.items()
    }
    return cell_inputs, rng.normal(size=(N, E)), rng.normal(size=(N, H)), rng.normal(size=(N, H))


def step(name, weights, inputs, *carry):
    x = jnp.asarray(inputs @ weights["W"] + weights["b"][None, :])
    own = CellWeights(jnp.asarray(weights["U"]), jnp.asarray(weights["c"]))
    return CELLS[name].step(own, x, tuple(jnp.asarray(part) for part in carry))


def blocks(matrix, names):
    return dict(zip(names, np.split(matrix, len(names), axis=-1), strict=True))


def test_gru_is_flax_gru_cell(drawn):
    weights, inputs, h, _ = drawn
    own = weights["gru"]
    W, b, U = (blocks(own[key], "rzn") for key in "WbU")
    params = {f"i{gate}": {"kernel": W[gate], "bias": b[gate]} for gate in "rzn"}
    params |= {f"h{gate}": {"kernel": U[gate]} for gate in "rz"}
    params["hn"] = {"kernel": U["n"], "bias": own["c"]}
    theirs, _ = nn.GRUCell(H, param_dtype=jnp.float64).apply({"params": params}, h, inputs)
    np.testing.assert_allclose(step("gru", own, inputs, h)[0], theirs, rtol=1e-12, atol=1e-12)


def test_lstm_is_flax_lstm_cell(drawn):
    weights, inputs, h, c = drawn
    own = weights["lstm"]
    W, b, U = (blocks(own[key], "ifgo") for key in "WbU")
    params = {f"i{gate}": {"kernel": W[gate]} for gate in "ifgo"}
    params |= {f"h{gate}": {"kernel": U[gate], "bias": b[gate]} for gate in "ifgo"}
    cell = nn.LSTMCell(H, param_dtype=jnp.float64)
    (their_c, their_h), _ = cell.apply({"params": params}, (jnp.asarray(c), jnp.asarray(h)), inputs)
    our_h, our_c = step("lstm", own, inputs, h, c)
    np.testing.assert_allclose(our_h, their_h, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(our_c, their_c, rtol=1e-12, atol=1e-12)


def test_vanilla_is_flax_simple_cell(drawn):
    weights, inputs, h, _ = drawn
    own = weights["vanilla"]
    params = {"i": {"kernel": own["W"], "bias": own["b"]}, "h": {"kernel": own["U"]}}
    theirs, _ = nn.SimpleCell(H, param_dtype=jnp.float64).apply({"params": params}, h, inputs)
    np.testing.assert_allclose(step("vanilla", own, inputs, h)[0], theirs, rtol=1e-12, atol=1e-12)


def test_ugrnn_is_the_equation_of_collins(drawn):
    weights, inputs, h, _ = drawn
    own = weights["ugrnn"]
    z, n = np.split(inputs @ own["W"] + own["b"] + h @ own["U"], 2, axis=-1)
    gate = 1 / (1 + np.exp(-z))
    expected = gate * h + (1 - gate) * np.tanh(n)
    np.testing.assert_allclose(step("ugrnn", own, inputs, h)[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_table_describes_the_step(name):
    cell = CELLS[name]
    assert len(cell.input_bias) == cell.gates
    weights = CellWeights(jnp.zeros((H, cell.gates * H)), jnp.zeros(H))
    carry = cell.step(weights, jnp.zeros((N, cell.gates * H)), (jnp.ones((N, H)),) * cell.carries)
    assert jax.tree.map(jnp.shape, carry) == ((N, H),) * cell.carries
