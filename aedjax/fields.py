"""Fields of the configuration: static or traced by their type, with bounds and a help line.

A *static* field changes shapes or code, so members that differ in it need another compiled
program. A *traced* field is a number that flows through one program. The annotation decides:

>>> @dataclasses.dataclass(frozen=True)
... class Example:
...     steps: Static[int] = setting(1500, "training steps", at_least=1)
...     learning_rate: Traced[float] = setting(0.003, "Adam's step size", above=0.0)
>>> traced_fields(Example)
('learning_rate',)
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import numpy as np

from aedjax.errors import InputError, shown, unknown

T = TypeVar("T")
Static = Annotated[T, "static"]
Traced = Annotated[T, "traced"]

SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
"""The sizes of a traced number: it flows as float32, and XLA takes what is below for 0."""


def setting(
    default: Any,
    help: str,
    *,
    at_least: int | float | None = None,
    above: int | float | None = None,
    at_most: int | float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A dataclass field with a default, a line of help, and what its value must satisfy."""
    rules = {"at_least": at_least, "above": above, "at_most": at_most, "choices": choices}
    return dataclasses.field(default=default, metadata={"help": help, **rules})


def field_types(config: type) -> Mapping[str, tuple[Any, str]]:
    """Each field's plain type and its kind, "static" or "traced"."""
    hints = typing.get_type_hints(config, include_extras=True)
    return {name: (hint.__origin__, hint.__metadata__[0]) for name, hint in hints.items()}


def traced_fields(config: type) -> tuple[str, ...]:
    """The names of the fields that flow through one compiled program, in order."""
    return tuple(name for name, (_, kind) in field_types(config).items() if kind == "traced")


def static_fields(config: type) -> tuple[str, ...]:
    """The names of the fields that ask for a program of their own, in order."""
    return tuple(name for name, (_, kind) in field_types(config).items() if kind == "static")


def checked_value(where: str, config: type, name: str, value: Any) -> Any:
    """`value` as field `name` of `config` wants it (an int becomes a float where one is wanted).

    Raises:
        InputError: on a wrong type, a NaN or infinity, a value outside the field's bounds, or a
            traced one that float32 does not hold; the line starts with `where.name = value`.
    """
    field = {f.name: f for f in dataclasses.fields(config)}.get(name)
    if field is None:
        raise unknown(f"{where} key", name, field_types(config))
    wanted, kind = field_types(config)[name]
    label = f"{where}.{name} = {shown(value)}"
    value = _as_type(label, wanted, value)
    if value is None:
        return None
    rules = field.metadata
    if rules["choices"] is not None and value not in rules["choices"]:
        raise unknown(f"{where}.{name}", value, rules["choices"])
    if rules["at_least"] is not None and value < rules["at_least"]:
        raise InputError(f"{label} is too small; use at least {rules['at_least']}")
    if rules["above"] is not None and value <= rules["above"]:
        raise InputError(f"{label} is too small; use more than {rules['above']}")
    if rules["at_most"] is not None and value > rules["at_most"]:
        raise InputError(f"{label} is too large; use at most {rules['at_most']}")
    if kind == "traced" and value != 0 and not SMALLEST <= abs(value) <= LARGEST:
        raise InputError(
            f"{label} is 0 or infinite as float32; use a size of {SMALLEST:.3g} to {LARGEST:.3g}"
        )
    return value


def _as_type(label: str, wanted: Any, value: Any) -> Any:
    options = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    if value is None and type(None) in options:
        return None
    plain = next(option for option in options if option is not type(None))
    if plain is float and isinstance(value, int) and not isinstance(value, bool):
        value = _as_float(value)
    if type(value) is not plain:
        names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
        got = names.get(type(value), f"a {type(value).__name__}")
        raise InputError(f"{label} is {got}; use {names[plain]}")
    if plain is float and not math.isfinite(value):
        raise InputError(f"{label} is not finite; use an ordinary number")
    if plain is str and any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value):
        raise InputError(f"{label} has a character that no text file holds; leave it out")
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
