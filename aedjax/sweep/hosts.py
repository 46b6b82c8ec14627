"""One program over several processes (`jax.distributed`): what they must do alike, or agree on.

With one process, the ordinary case, each of these functions is the obvious thing.
"""

from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def is_leader() -> bool:
    """Whether this process writes the files."""
    return jax.process_index() == 0


def agreed(value: int) -> int:
    """The leader's value, in every process."""
    if jax.process_count() == 1:
        return value
    return int(multihost_utils.broadcast_one_to_all(np.int64(value)))


def fetch(tree: Any) -> Any:
    """Arrays of the devices as NumPy arrays, whole in every process."""
    if jax.process_count() == 1:
        return jax.device_get(tree)
    return multihost_utils.process_allgather(tree, tiled=True)


def spread(tree: Any, mesh: Mesh) -> Any:
    """Arrays that every process has whole, cut along their leading axis over a mesh."""
    sharding = NamedSharding(mesh, PartitionSpec("members"))
    if jax.process_count() == 1:
        return jax.device_put(tree, sharding)

    def put(leaf: Any) -> jax.Array:
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.jit(jax.random.wrap_key_data)(put(jax.random.key_data(leaf)))
        values = np.asarray(leaf)
        return jax.make_array_from_callback(values.shape, sharding, lambda part: values[part])

    return jax.tree.map(put, tree)
