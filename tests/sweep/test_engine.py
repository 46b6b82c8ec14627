"""A member's result depends on the member alone: not on its neighbours, its unit or its device."""

from functools import cache

import jax
import numpy as np
import pytest
from jax.sharding import AxisType

from aedjax.sweep.backends import STRATEGIES
from aedjax.sweep.engine import analysis_steps, compile_group, run_unit
from aedjax.sweep.one import Silent
from aedjax.sweep.plan import make_plan
from aedjax.sweep.store import read_result
from aedjax.tasks import make_task


@pytest.fixture(scope="session")
def run(group):
    """A function that runs members in units of the small sweep's width, on two devices."""
    members, _ = group
    task = make_task(members[0].task)

    @cache
    def programs(strategy):
        mesh = jax.make_mesh((2,), ("members",), (AxisType.Auto,), devices=jax.devices()[:2])
        return compile_group(members[0], task, len(members), mesh, Silent(), strategy)

    return lambda chosen, strategy="map": run_unit(programs(strategy), chosen, 0, Silent())


@pytest.fixture(scope="session")
def group(small):
    """The AED members of the small sweep, and what the sweep found for them."""
    spec, folder, _ = small
    unit = make_plan(spec).units[0]
    return [spec.members[k] for k in unit.members], read_result(folder, unit.id)


@pytest.mark.parametrize("place", [0, 2])
def test_a_member_alone_is_bitwise_the_member_in_its_unit(group, run, place):
    members, together = group
    alone = run([members[place]])
    jax.tree.map(
        lambda a, b: np.testing.assert_array_equal(a[0], b[place]), alone.params, together.params
    )
    for name, values in alone.metrics.items():
        np.testing.assert_array_equal(values[0], together.metrics[name][place], err_msg=name)


def test_a_diverged_neighbour_changes_nothing(group, run):
    members, together = group
    assert [member.train.learning_rate for member in members] == [0.003, 0.003, 1e30, 1e30]
    calm = run(members[:2])
    assert (together.diverged_at[:2] == -1).all()
    assert (together.diverged_at[2:] >= 1).all()
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[:2]), calm.params, together.params)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_trains_alike(group, run, strategy):
    members, together = group
    ours = run(members[:2], strategy)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b[:2], rtol=1e-3, atol=1e-5),
        ours.params,
        together.params,
    )


def test_a_unit_is_filled_up_and_the_filling_dropped(group, run):
    members, together = group
    odd = run(members[:1])
    assert odd.diverged_at.shape == (1,)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[:1]), odd.params, together.params)


def test_analysis_steps_hold_both_ends(small):
    member = small[0].members[0]
    assert analysis_steps(member) == [0, 4, 6]
