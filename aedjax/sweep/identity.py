"""What makes a run the run it is, and stable hashes of that.

An identity holds only the fields that a run uses, so a field that its task or architecture does
not look at cannot tell two runs apart, and a new field of another task changes no old identity.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from aedjax.fields import static_fields
from aedjax.models import MODELS
from aedjax.models.config import ModelConfig
from aedjax.sweep.sections import SECTIONS
from aedjax.tasks import TASKS
from aedjax.tasks.base import TaskConfig

USES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    TaskConfig: lambda task: ("name", *TASKS[task.name].uses),
    ModelConfig: lambda model: ("architecture", *MODELS[model.architecture].uses),
}
"""The fields that a configuration uses; one that is not here uses all of its fields."""


# Made once: reading annotations takes longer than all the rest of an identity.
STATIC_FIELDS = {config: static_fields(config) for config in SECTIONS.values()}
"""The static fields of every section's configuration."""


def used_settings(config: Any) -> dict[str, Any]:
    """The fields of a configuration that its task or architecture uses, in order."""
    names = [field.name for field in fields(config)]
    used = USES.get(type(config), lambda _: names)(config)
    return {name: getattr(config, name) for name in names if name in used}


def static_settings(config: Any) -> dict[str, Any]:
    """The used fields of a configuration that ask for a program of their own."""
    static = STATIC_FIELDS[type(config)]
    return {name: value for name, value in used_settings(config).items() if name in static}


# One encoder for all: json.dumps with options makes a new one at every call.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """JSON text that is equal for equal values: keys sorted, no spaces, ASCII alone."""
    return _ENCODER.encode(value)


def stable_id(*parts: Any) -> str:
    """16 hexadecimal digits of the SHA-256 of the parts' canonical JSON.

    With 64 bits the chance that any two of a million ids are equal is 3e-8.
    """
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:16]


def stable_words(*parts: Any) -> tuple[int, int]:
    """The first two 32-bit words, big-endian, of the SHA-256 of the parts' canonical JSON."""
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")
