"""A member's result depends on the member alone: not on its neighbours, its unit or its device."""

from functools import cache

import jax
import numpy as np
import pytest

from aedjax.sweep.backends import STRATEGIES
from aedjax.sweep.engine import analysis_steps, result_of, train_unit
from aedjax.sweep.programs import compile_group
from aedjax.sweep.reporter import Silent
from aedjax.sweep.store import read_result
from aedjax.tasks import make_task


@pytest.fixture(scope="session")
def group(small):
    """The AED members of the small sweep, and what the sweep found for them."""
    record, folder, _ = small
    unit = record.plan.units[0]
    return [record.spec.members[k] for k in unit.members], read_result(folder, unit.id)


@pytest.fixture(scope="session")
def programs(group):
    """The programs of the group by width, number of devices and strategy."""
    member = group[0][0]

    @cache
    def compiled(width=4, devices=2, strategy="map"):
        task = make_task(member.task)
        return compile_group(member, task, width, Silent(), strategy, jax.devices()[:devices])

    return compiled


def train(programs, members):
    """The result of a unit of these members."""
    *_, last = train_unit(programs, members, 0, Silent())
    return result_of(last, members, {})


@pytest.fixture(scope="session")
def run(programs):
    """A function that runs members in units of the small sweep's width, on two devices."""
    return lambda chosen, strategy="map": train(programs(strategy=strategy), chosen)


def assert_equal(one, other):
    """Two results are the same, bit for bit."""
    jax.tree.map(np.testing.assert_array_equal, one.params, other.params)
    for name, values in one.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name], err_msg=name)
    np.testing.assert_array_equal(one.diverged_at, other.diverged_at)


@pytest.mark.parametrize("width", [2, 8])
def test_on_a_cpu_no_width_changes_a_bit(group, programs, width):
    members, _ = group
    assert_equal(train(programs(width), members[:2]), train(programs(), members[:2]))


def test_a_unit_goes_on_from_any_stretch_bit_for_bit(group, programs):
    members, together = group
    stretches = list(train_unit(programs(), members, 0, Silent(), longest=1))
    assert [progress.step for progress in stretches] == list(range(7))
    for progress in stretches:
        saved = jax.device_get(progress)
        *_, last = train_unit(programs(), members, 0, Silent(), saved, longest=2)
        assert_equal(result_of(last, members, {}), together)


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
    member = small[0].spec.members[0]
    assert analysis_steps(member) == [0, 4, 6]
