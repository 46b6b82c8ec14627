"""The memory of a device, and the width that fits in it."""

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aedjax.errors import InputError
from aedjax.sweep.memory import (
    MemoryModel,
    available_memory,
    fitting_width,
    format_bytes,
    memory_model,
    parse_bytes,
)
from aedjax.sweep.plan import narrower


@given(st.integers(0, 10**9), st.integers(1, 10**6), st.integers(1, 8))
def test_two_small_widths_give_the_line(fixed, slope, devices):
    asked = []

    def bytes_at(width):
        asked.append(width)
        return fixed + slope * width

    model = memory_model(bytes_at, devices)
    assert asked == [devices, 2 * devices]
    assert model.bytes_at(1024) == fixed + slope * 1024


@given(st.integers(1, 8), st.integers(1, 64), st.integers(0, 10**4), st.integers(1, 10**4))
def test_the_width_fits_and_twice_the_width_does_not(devices, blocks, fixed, available):
    width = devices * blocks
    model = MemoryModel(float(fixed), 10.0)
    found = fitting_width(width, devices, model, available)
    if found is None:
        assert model.bytes_at(devices) > available or narrower(devices, devices) is None
        return
    assert model.bytes_at(found) <= available
    assert found % devices == 0
    if found != width:
        assert model.bytes_at(2 * found) > available


def test_the_devices_share_the_machine_and_a_limit_is_obeyed():
    import psutil

    devices = jax.devices()[:2]
    assert available_memory(devices, 1234) == 1234
    assert 0 < 2 * available_memory(devices, None) <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500_000_000), ("2GiB", 2**31), ("1e9", 10**9), (" 1.5 kib ", 1536), ("7", 7)],
)
def test_sizes_are_read(text, size):
    assert parse_bytes("memory", text) == size


@pytest.mark.parametrize("text", ["", "x", "5 parsecs", "-1GB", "0", "1e999", "1.2.3", "i", "1i"])
def test_other_sizes_are_refused(text):
    with pytest.raises(InputError, match=r"memory = .* is (no size|too small)"):
        parse_bytes("memory", text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1 B"), (1536, "1.5 KiB"), (10 * 2**30, "10 GiB"), (2**50, "1.02e+03 TiB")],
)
def test_sizes_are_written(size, text):
    assert format_bytes(size) == text
