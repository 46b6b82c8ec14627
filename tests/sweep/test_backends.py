"""Every strategy gives what a loop gives, on one and on two devices."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.sweep.backends import HOST_DEVICES, STRATEGIES, mesh_for, over_members, use_every_core


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
    mesh = mesh_for(4, jax.devices()[:devices])
    ours = over_members(simulate, mesh, strategy)((x, a), np.ones(4, bool), shared)
    loop = jnp.stack([simulate((x[k], a[k]), shared) for k in range(4)])
    np.testing.assert_allclose(ours, loop, rtol=1e-6)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_active_members_are_those_of_a_full_unit(strategy):
    x, a = jnp.ones((4, 2, 3)), jnp.linspace(0.1, 0.9, 4)
    mapped = over_members(simulate, mesh_for(4, jax.devices()[:2]), strategy)
    whole = mapped((x, a), np.ones(4, bool), jnp.ones(3))
    for count in range(5):
        part = mapped((x, a), np.arange(4) < count, jnp.ones(3))
        np.testing.assert_array_equal(part[:count], whole[:count])


def test_one_by_one_skips_the_members_that_fill_a_unit_up():
    calls = []

    def counted(member, shared):
        jax.debug.callback(lambda: calls.append(1))
        return member

    mapped = over_members(counted, mesh_for(8, jax.devices()[:1]), "map")
    jax.block_until_ready(mapped(jnp.arange(8.0), np.arange(8) < 3, ()))
    jax.effects_barrier()
    assert len(calls) == 3


@pytest.mark.parametrize(("width", "devices"), [(1, 1), (2, 2), (3, 1), (4, 2)])
def test_a_mesh_has_as_many_devices_as_divide_the_width(width, devices):
    assert mesh_for(width, jax.devices()[:2]).devices.size == devices


def test_a_users_own_device_count_stands(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"--something {HOST_DEVICES}=7")
    use_every_core()
    assert os.environ["XLA_FLAGS"] == f"--something {HOST_DEVICES}=7"
    monkeypatch.setenv("XLA_FLAGS", "--something")
    use_every_core()
    assert os.environ["XLA_FLAGS"].startswith(f"--something {HOST_DEVICES}=")


FOUR = """
import jax, numpy as np
from tests.sweep.test_backends import simulate
from aedjax.sweep.backends import STRATEGIES, mesh_for, over_members
assert len(jax.devices()) == 4
x = np.random.default_rng(0).normal(size=(8, 2, 3)).astype(np.float32)
a, shared = np.linspace(0.1, 0.9, 8, dtype=np.float32), np.ones(3, np.float32)
loop = np.stack([simulate((x[k], a[k]), shared) for k in range(8)])
for strategy in STRATEGIES:
    for devices in (2, 4):
        mesh = mesh_for(8, jax.devices()[:devices])
        assert mesh.devices.size == devices
        ours = over_members(simulate, mesh, strategy)((x, a), np.ones(8, bool), shared)
        assert len(ours.sharding.device_set) == devices
        np.testing.assert_allclose(ours, loop, rtol=1e-6)
print("alike")
"""


def test_four_devices_give_what_a_loop_gives():
    environment = dict(os.environ) | {"XLA_FLAGS": f"{HOST_DEVICES}=4"}
    done = subprocess.run(
        [sys.executable, "-c", FOUR], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "alike\n", done.stderr
