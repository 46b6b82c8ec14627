"""How the members of a unit share the devices: one table, one code path.

On a CPU, members run one after another on every host device, which is measured to be faster there
than batching them; on an accelerator they run side by side (`vmap`). Either way the member axis is
cut over a 1-D mesh of devices.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool

from aedjax.errors import InputError

HOST_DEVICES = "--xla_force_host_platform_device_count"


def one_by_one(function: Callable[[Any], Any], members: Any, active: Bool[Array, " K"]) -> Any:
    """Call `function` on one active member after another; the results of the others are 0.

    The active members come first. Their number is data, not shape: filling a unit up costs
    nothing, and XLA cannot unroll the loop over a single member into other arithmetic, so that a
    member is bitwise the same in a unit of any width.
    """
    first = jax.tree.map(lambda leaf: leaf[0], members)
    empty = jax.tree.map(
        lambda out: jnp.zeros((active.size, *out.shape), out.dtype),
        jax.eval_shape(function, first),
    )

    def call(k, results):
        member = jax.tree.map(
            lambda leaf: jax.lax.dynamic_index_in_dim(leaf, k, keepdims=False), members
        )
        return jax.tree.map(
            lambda leaf, out: jax.lax.dynamic_update_index_in_dim(leaf, out, k, 0),
            results,
            function(member),
        )

    return jax.lax.fori_loop(0, jnp.sum(active), call, empty)


def side_by_side(function: Callable[[Any], Any], members: Any, active: Bool[Array, " K"]) -> Any:
    """Call `function` on all members at once, active or not."""
    return jax.vmap(function)(members)


STRATEGIES: dict[str, Callable[[Callable, Any, Any], Any]] = {
    "map": one_by_one,
    "vmap": side_by_side,
}
"""How a device calls a function of one member for many, by name."""

STRATEGY_OF = {"cpu": "map", "gpu": "vmap", "tpu": "vmap"}
"""The strategy of every device platform."""


def use_every_core() -> None:
    """Ask XLA for one host device a core; it must be called before JAX first looks at devices.

    A count that the user already put in XLA_FLAGS stands.
    """
    if HOST_DEVICES not in os.environ.get("XLA_FLAGS", ""):
        use_host_devices(cores())


def use_host_devices(count: int) -> None:
    """Ask XLA for so many host devices; it must be called before JAX first looks at devices."""
    flags = re.sub(rf"{HOST_DEVICES}=\d+", "", os.environ.get("XLA_FLAGS", ""))
    os.environ["XLA_FLAGS"] = f"{flags} {HOST_DEVICES}={count}".strip()


def cores() -> int:
    """The CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def strategy_of(mesh: Mesh) -> str:
    """The name of the strategy that suits the devices of a mesh."""
    return STRATEGY_OF[mesh.devices.flat[0].platform]


def mesh_for(width: int, devices: Sequence[jax.Device] | None = None) -> Mesh:
    """Devices in a row, named "members": as many as divide `width`.

    `devices` are all there are unless given: every process's, where several run one program, and
    then as many of each.

    Raises:
        InputError: if `width` cannot be shared out among the processes.
    """
    own: dict[int, list[jax.Device]] = {}
    for device in jax.devices() if devices is None else devices:
        own.setdefault(device.process_index, []).append(device)
    counts = range(min(map(len, own.values())), 0, -1)
    count = next((count for count in counts if width % (count * len(own)) == 0), None)
    if count is None:
        raise InputError(
            f"width = {width} cannot be shared out among {len(own)} processes; start as many as "
            "divide it"
        )
    row = [device for some in own.values() for device in some[:count]]
    return jax.make_mesh((len(row),), ("members",), (AxisType.Auto,), devices=row)


def over_members(
    function: Callable[[Any, Any], Any], mesh: Mesh, strategy: str | None = None
) -> jax.stages.Wrapped:
    """Map function(member, shared) over the leading axis of every array of `members`.

    The mapped function takes (members, active, shared). The leading axis must be a multiple of
    the number of devices in `mesh`, and the active members come first; what it returns for the
    others means nothing. `shared` goes whole to every device. `strategy` is the platform's own
    unless given.
    """
    many = STRATEGIES[strategy or strategy_of(mesh)]
    split, whole = PartitionSpec("members"), PartitionSpec()

    def on_device(local: Any, active: Bool[Array, " K"], shared: Any) -> Any:
        return many(lambda member: function(member, shared), local, active)

    # check_vma rejects scans whose carry starts as a constant, as every recurrence does here.
    mapped = jax.shard_map(
        on_device, mesh=mesh, in_specs=(split, split, whole), out_specs=split, check_vma=False
    )
    shardings = [NamedSharding(mesh, spec) for spec in (split, split, whole)]
    return jax.jit(mapped, in_shardings=tuple(shardings), out_shardings=shardings[0])
