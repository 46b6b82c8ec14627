"""How much memory a device has, and the width of a group that fits in it."""

import dataclasses
import re
from collections.abc import Callable, Sequence

import jax
import psutil

from aedjax.errors import InputError
from aedjax.sweep.plan import narrower

SPARE = 0.1
"""The share of a device's memory that is left to others."""

UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("kmgt", 1)
}


class TooWideError(Exception):
    """A program needs more memory than a device has."""


@dataclasses.dataclass(frozen=True)
class MemoryModel:
    """Bytes of a device that a program needs, linear in its width: fixed + slope * width."""

    fixed: float
    slope: float

    def bytes_at(self, width: int) -> int:
        """The bytes needed at a width."""
        return round(self.fixed + self.slope * width)


def memory_model(bytes_at: Callable[[int], int], devices: int) -> MemoryModel:
    """The model that two small widths give; `bytes_at` compiles a program to see what it needs."""
    small, large = devices, 2 * devices
    low, high = bytes_at(small), bytes_at(large)
    slope = (high - low) / (large - small)
    return MemoryModel(low - slope * small, slope)


def fitting_width(width: int, devices: int, model: MemoryModel, available: int) -> int | None:
    """The first of width, its half, the half of that, ... that fits; None if none does."""
    found: int | None = width
    while found is not None and model.bytes_at(found) > available:
        found = narrower(found, devices)
    return found


def available_memory(devices: Sequence[jax.Device], limit: int | None) -> int:
    """Bytes of each device that a program may use: `limit`, or else most of what there is.

    Host devices share the machine's memory.
    """
    if limit is not None:
        return limit
    stats = devices[0].memory_stats() or {}
    whole = stats.get("bytes_limit") or psutil.virtual_memory().total // len(devices)
    return int(whole * (1 - SPARE))


def parse_bytes(option: str, text: str) -> int:
    """A number of bytes, as 500MB, 2GiB or 1e9.

    Raises:
        InputError: if the text is none.
    """
    found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    try:
        size = int(float(found[1]) * UNITS[found[2]])  # type: ignore[index]
    except (TypeError, ValueError, KeyError, OverflowError):
        raise InputError(f"{option} = {text!r} is no size; write it as 500MB or 2GiB") from None
    if size < 1:
        raise InputError(f"{option} = {text!r} is too small; use at least 1 byte")
    return size


def format_bytes(size: int | float) -> str:
    """A size for people: 3 digits and a binary unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"
