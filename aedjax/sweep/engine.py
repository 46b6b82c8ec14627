"""The hot path: train and measure the members of a unit on the local devices.

A group compiles three programs (start, advance, measure); every unit of the group reuses them.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from aedjax.analysis.metrics import measure
from aedjax.models import make_model
from aedjax.sweep.backends import over_members
from aedjax.sweep.keys import member_keys
from aedjax.sweep.spec import Member, hyperparameters
from aedjax.tasks import Task
from aedjax.training import make_train

STRETCH_SECONDS = 1.0
"""How long a stretch of training should take between two signs of life."""
FIRST_STRETCH = 2
"""Steps of the first stretch, which only serves to time the others."""


@runtime_checkable
class Reporter(Protocol):
    """Whoever wants to know how far a unit is."""

    def compiling(self, what: str) -> None:
        """A program is about to be compiled."""

    def analysing(self, step: int) -> None:
        """The networks are about to be analysed, trained for so many steps."""

    def advanced(self, model_steps: int) -> None:
        """So many steps, summed over members, have been trained."""


class Programs(NamedTuple):
    """The compiled programs of a group, for units of one width, and what they read."""

    task: Task
    start: Callable[[Any, Any], Any]
    advance: Callable[[Any, Any], Any]
    measure: Callable[[Any, Any], Any]
    mesh: Mesh
    width: int


class UnitResult(NamedTuple):
    """What a unit leaves behind, members in order.

    metrics[name] is [members, analyses, ...], params a tree of [members, ...], `steps` the
    training step of every analysis, `diverged_at` the step of `TrainState` or −1.
    """

    steps: np.ndarray
    metrics: dict[str, np.ndarray]
    params: Any
    diverged_at: np.ndarray


def analysis_steps(member: Member) -> list[int]:
    """The training steps at which a member is analysed: 0, every k, and the last."""
    every, last = member.analysis.every, member.train.steps
    between = range(0, last, every) if every else ()
    return sorted({0, *between, last})


def compile_group(
    member: Member,
    task: Task,
    width: int,
    mesh: Mesh,
    report: Reporter,
    strategy: str | None = None,
) -> Programs:
    """The programs for members that agree with `member` on every static field; `task` is theirs.

    `width` members run at a time, rounded up to a multiple of the number of devices.
    """
    width += -width % mesh.devices.size
    vocabularies = len(task.encoder_vocabulary), len(task.decoder_vocabulary)
    model = make_model(member.model, *vocabularies)
    train = make_train(member.train, task.draw, model)
    methods, fits = member.analysis.methods, member.analysis.fit

    def start(member, _):
        return train.start(*member)

    def advance(member, shared):
        return train.advance(*member, *shared)

    def measure_member(params, batch):
        return measure(batch, model.apply(params, batch), methods, fits, *vocabularies)

    batch = task.test(member.analysis.samples)
    inputs = member_inputs([member] * width, 0)
    shared = (task.data, np.int32(0))
    label = f"{member.model.architecture} on {member.task.name}"

    def compiled(what: str, function: Callable, *arguments: Any) -> Any:
        report.compiling(f"{what} of {label}")
        return over_members(function, mesh, strategy).lower(*arguments).compile()

    start_all = compiled("initialisation", start, inputs, ())
    state = jax.eval_shape(lambda: jax.vmap(lambda one: start(one, ()))(inputs))
    advance_all = compiled("training", advance, (state, *inputs), shared)
    measure_all = compiled("analysis", measure_member, state.params, batch)
    return Programs(task, start_all, advance_all, measure_all, mesh, width)


def member_inputs(members: Sequence[Member], root_seed: int) -> tuple[Any, Any]:
    """Keys and traced hyperparameters of the members, stacked."""
    rows = [hyperparameters(member) for member in members]
    stacked = {name: jnp.array([row[name] for row in rows], jnp.float32) for name in rows[0]}
    return member_keys(members, root_seed), stacked


def run_unit(
    programs: Programs, members: Sequence[Member], root_seed: int, report: Reporter
) -> UnitResult:
    """Train and analyse at most `programs.width` members of the programs' group.

    A unit with fewer is filled up with copies of its last member, whose results are dropped.
    """
    padded = [*members, *[members[-1]] * (programs.width - len(members))]
    inputs = jax.device_put(
        member_inputs(padded, root_seed), NamedSharding(programs.mesh, PartitionSpec("members"))
    )
    batch = programs.task.test(members[0].analysis.samples)
    state = programs.start(inputs, ())
    steps = analysis_steps(members[0])
    measured = []
    stretch, done = FIRST_STRETCH, 0
    for target in steps:
        while done < target:
            began, until = time.monotonic(), min(target, done + stretch)
            shared = (programs.task.data, np.int32(until))
            state = jax.block_until_ready(programs.advance((state, *inputs), shared))
            rate = (until - done) / (time.monotonic() - began)
            report.advanced((until - done) * len(members))
            stretch, done = max(1, int(rate * STRETCH_SECONDS)), until
        report.analysing(target)
        measured.append(jax.device_get(programs.measure(state.params, batch)))
    kept = slice(len(members))
    metrics = {
        name: np.stack([values[name][kept] for values in measured], axis=1) for name in measured[0]
    }
    params, diverged_at = jax.device_get((state.params, state.diverged_at))
    return UnitResult(
        np.array(steps), metrics, jax.tree.map(lambda leaf: leaf[kept], params), diverged_at[kept]
    )
