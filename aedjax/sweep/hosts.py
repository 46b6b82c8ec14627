"""One program over several processes (`jax.distributed`): what they must do alike, or agree on.

Every process calls the same functions in the same order, since the others wait in each of them;
an error in one is an error in all, so that none waits for one that gave up. With one process, the
ordinary case, each of these functions is the obvious thing.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from aedjax.errors import FailureError, InputError
from aedjax.sweep.lease import LeaseLostError
from aedjax.sweep.memory import TooWideError

T = TypeVar("T")

MESSAGE_BYTES = 512
"""How much of an error the other processes learn; texts have multiples of it as their length."""


class HostError(FailureError):
    """Another process of this program failed, or is gone."""


SHARED_ERRORS: dict[str, type[BaseException]] = {
    kind.__name__: kind
    for kind in (
        InputError,
        KeyboardInterrupt,
        LeaseLostError,
        MemoryError,
        TooWideError,
        jax.errors.JaxRuntimeError,
    )
}
"""Errors that are the same in every process; any other one is a HostError in the others."""


def is_leader() -> bool:
    """Whether this process writes the files."""
    return jax.process_index() == 0


def agreed(value: int) -> int:
    """The leader's value, in every process; it must be less than 2³¹."""
    if jax.process_count() == 1:
        return value
    return int(_gathered(np.int32(value))[0])


def told(content: Any) -> Any:
    """The leader's content, JSON-able, in every process."""
    if jax.process_count() == 1:
        return content
    text = json.dumps(content).encode()
    size = agreed(len(text) + -len(text) % MESSAGE_BYTES)
    return json.loads(_gathered(np.frombuffer(text[:size].ljust(size), np.uint8))[0].tobytes())


def anywhere(flag: bool) -> bool:
    """Whether the flag is set in any process."""
    if jax.process_count() == 1:
        return flag
    return bool(_gathered(np.int32(flag)).any())


def together(call: Callable[[], T]) -> T:
    """Call a function that waits for no other process; raise in every process if any raised.

    Errors are those of the first process that has one.
    """
    if jax.process_count() == 1:
        return call()
    result, error = None, None
    try:
        result = call()
    except (Exception, KeyboardInterrupt) as caught:
        error = caught
    text = "" if error is None else f"{type(error).__name__}:{error}"
    message = np.frombuffer(text.encode()[:MESSAGE_BYTES].ljust(MESSAGE_BYTES, b"\0"), np.uint8)
    for process, row in enumerate(_gathered(message)):
        name, _, text = row.tobytes().rstrip(b"\0").decode(errors="ignore").partition(":")
        if name and process == jax.process_index():
            assert error is not None
            raise error
        if name in SHARED_ERRORS:
            raise SHARED_ERRORS[name](text) from error
        if name:
            raise HostError(f"process {process} failed ({name}: {text})") from error
    return result  # type: ignore[return-value]


def lead(call: Callable[[], T]) -> T | None:
    """Call a function in the leader alone, while the others wait; they get None, or its error."""
    return together(lambda: call() if is_leader() else None)


def fetch(tree: Any) -> Any:
    """Arrays of the devices as NumPy arrays, whole in every process; others stay as they are."""
    if jax.process_count() == 1:
        return jax.device_get(tree)

    def whole(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
            return multihost_utils.process_allgather(leaf, tiled=True)
        return jax.device_get(leaf)

    with _all_there():
        return jax.tree.map(whole, tree)


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


def _gathered(value: Any) -> np.ndarray:
    """Every process's value, in the order of the processes."""
    with _all_there():
        return multihost_utils.process_allgather(value)


@contextmanager
def _all_there() -> Iterator[None]:
    """Tell a process that is gone from an error of this one's own devices."""
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:  # Gloo's is a ValueError.
        raise HostError(f"another process is gone ({error})") from error
