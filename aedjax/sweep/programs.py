"""The compiled programs of a group, and the memory they need."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool

from aedjax.analysis.metrics import measure
from aedjax.models import make_model
from aedjax.sweep.backends import mesh_for, over_members
from aedjax.sweep.hosts import spread
from aedjax.sweep.keys import member_keys
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.spec import Member, hyperparameters
from aedjax.tasks import Task
from aedjax.training import make_train


class Programs(NamedTuple):
    """The compiled programs of a group, for units of one width, and what they read.

    Each takes (members, active, shared), as `backends.over_members` says. `state` and `metrics`
    are the shapes and types of what `advance` and `measure` return, `bytes` is the memory of
    every device that the largest of them needs.
    """

    task: Task
    start: Callable[[Any, Any, Any], Any]
    advance: Callable[[Any, Any, Any], Any]
    measure: Callable[[Any, Any, Any], Any]
    mesh: Mesh
    width: int
    state: Any
    metrics: Any
    bytes: int


def compile_group(
    member: Member,
    task: Task,
    width: int,
    report: Reporter,
    strategy: str | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Programs:
    """The programs for members that agree with `member` on every static field; `task` is theirs.

    `width` members run at a time, on as many devices as divide it.
    """
    mesh = mesh_for(width, devices)
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

    inputs, active = spread((member_inputs([member] * width, 0), np.ones(width, bool)), mesh)
    state = jax.eval_shape(jax.vmap(lambda one: start(one, ())), inputs)
    calls: dict[str, tuple[Callable, Any, Any]] = {
        "training": (advance, (state, *inputs), (task.data, np.int32(0))),
        "analysis": (measure_member, state.params, task.test(member.analysis.samples)),
        "initialisation": (start, inputs, ()),
    }
    compiled, shapes = {}, {}
    for what, (function, members, shared) in calls.items():
        report.compiling(f"{what} of {member.model.architecture} on {member.task.name}")
        lowered = over_members(function, mesh, strategy).lower(members, active, shared)
        compiled[what], shapes[what] = lowered.compile(), lowered.out_info
    return Programs(
        task,
        compiled["initialisation"],
        compiled["training"],
        compiled["analysis"],
        mesh,
        width,
        shapes["training"],
        shapes["analysis"],
        max(map(memory_of, compiled.values())),
    )


def memory_of(compiled: Any) -> int:
    """Bytes of each device that a compiled program needs: what it reads, writes and in between."""
    found = compiled.memory_analysis()
    return int(
        found.argument_size_in_bytes
        + found.output_size_in_bytes
        - found.alias_size_in_bytes
        + found.temp_size_in_bytes
        + found.generated_code_size_in_bytes
    )


def unit_inputs(
    programs: Programs, members: Sequence[Member], root_seed: int
) -> tuple[Any, Bool[Array, " width"]]:
    """What the programs read of a unit's members, on the devices, and which places are theirs: a
    unit is filled up with copies of its last member."""
    padded = [*members, *[members[-1]] * (programs.width - len(members))]
    active = np.arange(programs.width) < len(members)
    return spread((member_inputs(padded, root_seed), active), programs.mesh)


def member_inputs(members: Sequence[Member], root_seed: int) -> tuple[Any, Any]:
    """Keys and traced hyperparameters of the members, stacked."""
    rows = [hyperparameters(member) for member in members]
    stacked = {name: jnp.array([row[name] for row in rows], jnp.float32) for name in rows[0]}
    return member_keys(members, root_seed), stacked
