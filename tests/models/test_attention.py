"""Attention: its products are exact on every device."""

import jax
import jax.numpy as jnp

from aedjax.models.attention import attend


def test_every_product_is_of_whole_float32_factors():
    states = jnp.zeros((1, 2, 3))
    jaxpr = jax.make_jaxpr(attend)(states, states, states, jnp.ones((1, 2), bool)).jaxpr
    products = [one for one in jaxpr.eqns if one.primitive.name == "dot_general"]
    assert len(products) == 2
    highest = jax.lax.Precision.HIGHEST
    assert all(one.params["precision"] == (highest, highest) for one in products)
