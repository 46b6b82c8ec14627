"""The sections of a spec and what each of their keys accepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aedjax.analysis.metrics import COORDINATES
from aedjax.errors import InputError, shown, unknown
from aedjax.fields import Static, checked_value, field_types, setting
from aedjax.models.config import ModelConfig
from aedjax.tasks.base import TaskConfig
from aedjax.training import TrainConfig

MOST_SEEDS = 1_000_000


@dataclass(frozen=True)
class AnalysisConfig:
    """The `[analysis]` section of a spec. "both" stands for every method, or every fit."""

    methods: Static[tuple[str, ...]] = setting(
        COORDINATES["method"], "how states are split", choices=COORDINATES["method"]
    )
    fit: Static[tuple[str, ...]] = setting(
        COORDINATES["fit"], "which samples a split is fitted on", choices=COORDINATES["fit"]
    )
    samples: Static[int] = setting(512, "test samples analysed", at_least=1, at_most=2**20)
    every: Static[int] = setting(
        0,
        "training steps between two analyses; 0: at step 0 and at the end",
        at_least=0,
        at_most=2**31 - 1,
    )


@dataclass(frozen=True)
class SweepConfig:
    """The `[sweep]` section of a spec. In a spec `seeds` may be a count n: seeds 0 to n − 1."""

    seeds: Static[tuple[int, ...]] = setting((0, 1, 2, 3), "a count of seeds, or a list of them")
    combine: Static[str] = setting("grid", "how lists make runs", choices=("grid", "zip", "random"))
    samples: Static[int | None] = setting(
        None, "draws of combine = 'random'", at_least=1, at_most=1_000_000
    )
    # A key is made from 32 bits of the root seed: larger ones would repeat smaller ones.
    root_seed: Static[int] = setting(0, "the seed of everything", at_least=0, at_most=2**32 - 1)


SECTIONS: Mapping[str, type] = {
    "task": TaskConfig,
    "model": ModelConfig,
    "train": TrainConfig,
    "analysis": AnalysisConfig,
    "sweep": SweepConfig,
}
"""Every section of a spec, in the order in which axes are combined."""

AXIS_SECTIONS = ("task", "model", "train")
"""The sections in which a scalar may be a list (an axis) or a distribution."""


def check_key(where: str, section: str, key: str) -> None:
    """Raise InputError for a key that the section does not have, with the nearest that it has.

    `where` is the section as the user wrote it, with its case.
    """
    if key in field_types(SECTIONS[section]):
        return
    for other, config in SECTIONS.items():
        if key in field_types(config):
            raise InputError(f"{where} key = {key!r} is unknown; it belongs in [{other}]")
    raise unknown(f"{where} key", key, field_types(SECTIONS[section]))


def checked_names(where: str, config: type, key: str, value: Any) -> list[str]:
    """One name, "both", or a list of names, as a list in the order of the field's choices."""
    known = config.__dataclass_fields__[key].metadata["choices"]  # type: ignore[attr-defined]
    if value == "both":
        return list(known)
    names = [value] if isinstance(value, str) else value
    label = f"{where}.{key}"
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f'{label} = {shown(value)} is no name; use "both", a name or a list of names'
        )
    for name in names:
        if name not in known:
            raise unknown(label, name, ("both", *known))
    if not names:
        raise InputError(f"{label} = [] is empty; use at least one of {', '.join(known)}")
    return [name for name in known if name in names]


def first_repeated(values: Sequence[Any]) -> Any:
    """The first value that occurred before, or None."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def check_seed(label: str, seed: Any) -> None:
    """Raise InputError, its line beginning with `label`, for what is no seed."""
    if type(seed) is not int:
        raise InputError(f"{label} is no whole number; use 0 to 2^63 - 1")
    if not 0 <= seed < 2**63:
        raise InputError(f"{label} is out of range; use 0 to 2^63 - 1")


def checked_seeds(where: str, config: type, key: str, value: Any) -> list[int]:
    """The list of seeds that a count or a list stands for."""
    label = f"{where}.{key} = {shown(value)}"
    if type(value) is int:
        if value < 1:
            raise InputError(f"{label} asks for no seed; use a count of at least 1, or a list")
        if value > MOST_SEEDS:
            raise InputError(f"{label} is too large; use at most {MOST_SEEDS}")
        return list(range(value))
    if not isinstance(value, list | tuple) or any(type(seed) is not int for seed in value):
        raise InputError(f"{label} is neither a count nor a list of whole numbers; use one of them")
    if not value:
        raise InputError(f"{label} asks for no seed; list at least one")
    for seed in value:
        check_seed(f"{where}.{key}: seed {shown(seed)}", seed)
    repeated = first_repeated(value)
    if repeated is not None:
        raise InputError(f"{where}.{key} lists seed {repeated} twice; remove one")
    return list(value)


CHECKS = {tuple[str, ...]: checked_names, tuple[int, ...]: checked_seeds}
"""The check of a key whose field is not a scalar, by the field's type."""


def checked_setting(where: str, section: str, key: str, value: Any) -> Any:
    """The value of a key outside the axes, in its one canonical, JSON-able form.

    Raises:
        InputError: on an unknown key or a value that the key does not accept.
    """
    check_key(where, section, key)
    config = SECTIONS[section]
    check = CHECKS.get(field_types(config)[key][0], checked_value)
    return check(where, config, key, value)


def defaults(section: str) -> dict[str, Any]:
    """Every key of a section with its default, in order and JSON-able."""
    values = {key: f.default for key, f in SECTIONS[section].__dataclass_fields__.items()}  # type: ignore[attr-defined]
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }
