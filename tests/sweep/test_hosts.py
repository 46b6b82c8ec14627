"""One program over two processes: they agree, share their errors, and notice who is gone."""

import json
from unittest.mock import Mock

import jax
import pytest

from aedjax.errors import InputError
from aedjax.sweep.backends import mesh_for
from tests.launch.pairs import ends, start_pair

PROGRAM = """
import json, os, signal, sys
import jax, numpy as np
from aedjax.errors import InputError
from aedjax.sweep.backends import mesh_for
from aedjax.sweep.hosts import agreed, anywhere, fetch, lead, spread, together, told

jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))
process = jax.process_index()
found = {
    "agreed": agreed(process + 5),
    "told": told({"word": "Wörter" * 200} if process == 0 else None),
    "anywhere": [anywhere(False), anywhere(process == 0), anywhere(process == 1)],
    "together": together(lambda: process),
    "lead": lead(lambda: "led"),
}

def error_of(failing, error):
    def call():
        if process in failing:
            raise error
    try:
        together(call)
    except BaseException as caught:
        return f"{type(caught).__name__}: {caught}"

found["errors"] = [
    error_of((1,), InputError("seeds = 0 is too small")),
    error_of((0,), KeyboardInterrupt()),
    error_of((0, 1), OSError("full") if process == 0 else MemoryError()),
    error_of((1,), MemoryError("x" * 10_000)),
    error_of((), None),
]
mesh = mesh_for(4)
values = np.array([-0.0, np.nan, 1.5, 2.5], np.float32)
keys = jax.random.split(jax.random.key(0), 4)
apart, apart_keys = spread((values, keys), mesh)
whole, kept = fetch((apart, values))
drawn = fetch(jax.jit(jax.vmap(jax.random.bits))(apart_keys))
found["mesh"] = [device.process_index for device in mesh.devices]
found["parts"] = [len(shard.data) for shard in apart.addressable_shards]
found["fetched"] = whole.tobytes() == values.tobytes() == kept.tobytes()
found["drawn"] = drawn.tolist() == np.asarray(jax.vmap(jax.random.bits)(keys)).tolist()
print(json.dumps(found), flush=True)
if process == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    agreed(0)
except Exception as error:
    print(type(error).__name__, flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def pair():
    """What the two processes printed, and their exit codes."""
    ended = ends(start_pair("-c", PROGRAM, "{address}", "{process}"))
    # Gloo has its say on standard output, too.
    said = [[line for line in out.splitlines() if "Gloo" not in line] for _, out, _ in ended]
    assert all(said), ended
    return [json.loads(lines[0]) for lines in said], said, [code for code, _, _ in ended]


def test_what_the_leader_says_holds(pair):
    for found in pair[0]:
        assert found["agreed"] == 5
        assert found["told"] == {"word": "Wörter" * 200}
        assert found["anywhere"] == [False, True, True]
    assert [found["together"] for found in pair[0]] == [0, 1]
    assert [found["lead"] for found in pair[0]] == ["led", None]


def test_an_error_in_one_is_an_error_in_all(pair):
    first, second = (found["errors"] for found in pair[0])
    assert first[0] == second[0] == "InputError: seeds = 0 is too small"
    assert first[1] == second[1] == "KeyboardInterrupt: "
    assert first[2] == "OSError: full"
    assert second[2] == "HostError: process 0 failed (OSError: full)"
    assert first[3].startswith("MemoryError: xxx")
    assert second[3] == f"MemoryError: {'x' * 10_000}"
    assert first[4] is second[4] is None


def test_arrays_are_spread_and_fetched_bit_for_bit(pair):
    for found in pair[0]:
        assert found["mesh"] == [0, 1]
        assert found["parts"] == [2]
        assert found["fetched"]
        assert found["drawn"]


def test_a_process_that_is_gone_is_noticed(pair):
    _, said, codes = pair
    assert codes == [0, -9]
    assert said[0][1:] == ["HostError"]


def test_a_mesh_has_as_many_devices_of_every_process():
    devices = [Mock(spec=jax.Device, process_index=k) for k in (0, 1, 1, 1)]
    with pytest.raises(InputError, match="width = 3 cannot be shared out among 2 processes"):
        mesh_for(3, devices)


def test_a_mesh_of_one_process_divides_the_width():
    assert mesh_for(4, jax.devices()[:2]).size == 2
    assert mesh_for(3, jax.devices()[:2]).size == 1
