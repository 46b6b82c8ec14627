"""Every strategy gives what a loop gives, on one and on two devices."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType

from aedjax.sweep.backends import HOST_DEVICES, STRATEGIES, local_mesh, over_members, use_every_core


def simulate(member, shared):
    """A small recurrence: x ← tanh(a x + shared), eight times."""
    x, a = member
    return jax.lax.fori_loop(0, 8, lambda _, x: jnp.tanh(a * x + shared[None, :]), x)


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_members_equal_a_loop(strategy, devices):
    assert len(jax.devices()) >= 2
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(4, 2, 3)), jnp.float32)
    a, shared = jnp.linspace(0.1, 0.9, 4), jnp.ones(3)
    mesh = jax.make_mesh(
        (devices,), ("members",), (AxisType.Auto,), devices=jax.devices()[:devices]
    )
    ours = over_members(simulate, mesh, strategy)((x, a), shared)
    loop = jnp.stack([simulate((x[k], a[k]), shared) for k in range(4)])
    np.testing.assert_allclose(ours, loop, rtol=1e-6)


def test_local_mesh_has_every_device():
    assert local_mesh().devices.size == len(jax.local_devices())


def test_a_users_own_device_count_stands(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"--something {HOST_DEVICES}=7")
    use_every_core()
    assert os.environ["XLA_FLAGS"] == f"--something {HOST_DEVICES}=7"
    monkeypatch.setenv("XLA_FLAGS", "--something")
    use_every_core()
    assert os.environ["XLA_FLAGS"].startswith(f"--something {HOST_DEVICES}=")
