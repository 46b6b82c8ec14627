"""How the members of a unit share the devices: one table, one code path.

On a CPU, members run one after another on every host device (`lax.map`), which is measured to be
faster there than batching them; on an accelerator they run side by side (`vmap`). Either way the
member axis is cut over a 1-D mesh of all local devices.
"""

import os
from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AxisType, Mesh, PartitionSpec

STRATEGIES: dict[str, Callable[[Callable], Callable]] = {
    "map": lambda function: lambda members: jax.lax.map(function, members),
    "vmap": jax.vmap,
}
"""From a function of one member to a function of many, by name."""

STRATEGY_OF = {"cpu": "map", "gpu": "vmap", "tpu": "vmap"}
"""The strategy of every device platform."""

HOST_DEVICES = "--xla_force_host_platform_device_count"


def use_every_core() -> None:
    """Ask XLA for one host device a core; it must be called before JAX first looks at devices.

    A count that the user already put in XLA_FLAGS stands.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if HOST_DEVICES not in flags:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        count = cores or os.cpu_count() or 1
        os.environ["XLA_FLAGS"] = f"{flags} {HOST_DEVICES}={count}".strip()


def local_mesh() -> Mesh:
    """All local devices in a row, named "members"."""
    devices = jax.local_devices()
    return jax.make_mesh((len(devices),), ("members",), (AxisType.Auto,), devices=devices)


def over_members(
    function: Callable[[Any, Any], Any], mesh: Mesh, strategy: str | None = None
) -> jax.stages.Wrapped:
    """Map function(member, shared) over the leading axis of every array of its first argument.

    The leading axis must be a multiple of the number of devices in `mesh`; `shared` goes whole to
    every device. `strategy` is the platform's own unless given.
    """
    many = STRATEGIES[strategy or STRATEGY_OF[mesh.devices.flat[0].platform]]
    members, whole = PartitionSpec("members"), PartitionSpec()

    def on_device(local: Any, shared: Any) -> Any:
        return many(lambda member: function(member, shared))(local)

    # check_vma rejects scans whose carry starts as a constant, as every recurrence does here.
    mapped = jax.shard_map(
        on_device, mesh=mesh, in_specs=(members, whole), out_specs=members, check_vma=False
    )
    return jax.jit(mapped)
