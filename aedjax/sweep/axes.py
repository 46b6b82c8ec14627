"""Axes: from keys that hold lists and distributions to the points of a sweep.

A layer's settings are keyed "section.field" in the order that the spec determines. A value is a
scalar, a list (an axis), or a table with one distribution. Points are the product of *blocks*,
the first varying slowest:

- grid: one block an axis;
- zip: one block of all axes side by side;
- random: one block of `sweep.samples` joint draws, then one block an axis.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aedjax.errors import InputError, shown, unknown
from aedjax.fields import checked_value
from aedjax.sweep.identity import stable_words
from aedjax.sweep.sections import SECTIONS, SweepConfig, first_repeated

Settings = Mapping[str, Any]
Block = list[dict[str, Any]]

MOST_RUNS = 10_000_000
"""A spec that asks for more runs is refused before they fill the memory."""


def _uniform(u: float, low: Any, high: Any) -> Any:
    if isinstance(low, int):
        return low + int(u * (high - low + 1))
    return _rounded(low + u * (high - low), low, high)


def _log_uniform(u: float, low: Any, high: Any) -> Any:
    if isinstance(low, int):
        return min(high, int(low * ((high + 1) / low) ** u))
    return _rounded(math.exp(math.log(low) + u * (math.log(high) - math.log(low))), low, high)


def _choice(u: float, *values: Any) -> Any:
    return values[int(u * len(values))]


def _rounded(value: float, low: float, high: float) -> float:
    # exp and log differ in the last bit between C libraries; identities must not.
    return min(high, max(low, float(f"{value:.6g}")))


DISTRIBUTIONS: Mapping[str, Callable[..., Any]] = {
    "log_uniform": _log_uniform,
    "uniform": _uniform,
    "choice": _choice,
}
"""From u in [0, 1) and the numbers in the table to a draw. Between whole numbers a and b every
draw is one of a..b: `uniform` gives all the same chance, `log_uniform` gives k the chance
log((k + 1) / k) / log((b + 1) / a)."""


def checked_axis(where: str, section: str, key: str, value: Any) -> Any:
    """A scalar, axis or distribution of a field, every value of it checked.

    Raises:
        InputError: on a value that the field does not accept, an empty axis, or a distribution
            that is unknown or whose draws could leave the field's bounds.
    """
    config = SECTIONS[section]
    label = f"{where}.{key} = {shown(value)}"
    if isinstance(value, list):
        if not value:
            raise InputError(f"{label} is an empty axis; give at least one value")
        return [checked_value(where, config, key, one) for one in value]
    if not isinstance(value, dict):
        return checked_value(where, config, key, value)
    if len(value) != 1:
        raise InputError(f"{label} is no distribution; use one of {', '.join(DISTRIBUTIONS)}")
    ((name, arguments),) = value.items()
    if name not in DISTRIBUTIONS:
        raise unknown(f"{where}.{key} distribution", name, DISTRIBUTIONS)
    if not isinstance(arguments, list) or not arguments:
        raise InputError(f"{label} has no values; use {{{name} = [...]}}")
    arguments = [checked_value(where, config, key, one) for one in arguments]
    if name != "choice":
        _check_range(label, name, arguments)
    return {name: arguments}


def _check_range(label: str, name: str, arguments: list[Any]) -> None:
    if len(arguments) != 2 or not all(isinstance(end, int | float) for end in arguments):
        raise InputError(f"{label} is no range; use {{{name} = [smallest, largest]}}")
    low, high = arguments
    if low > high:
        raise InputError(f"{label} has its ends in the wrong order; use [smallest, largest]")
    if name == "log_uniform" and low <= 0:
        raise InputError(f"{label} reaches {low}; a log_uniform needs ends above 0")


def draw(distribution: Mapping[str, Any], field: str, number: int, root_seed: int) -> Any:
    """Draw `number` of a field; it depends on the root seed, the field and the number alone.

    `field` is "section.name". Floats are rounded to six significant digits.
    """
    ((name, arguments),) = distribution.items()
    high, low = stable_words("draw", root_seed, field, number)
    u = ((high >> 5) * 2**26 + (low >> 6)) / 2**53
    return DISTRIBUTIONS[name](u, *arguments)


def _grid(axes: Settings, _: Settings, sweep: SweepConfig) -> list[Block]:
    for field, values in axes.items():
        repeated = first_repeated(values)
        if repeated is not None:
            raise InputError(f"{field} = {shown(values)} repeats {repeated!r}; remove one")
    return [[{field: value} for value in values] for field, values in axes.items()]


def _zip(axes: Settings, _: Settings, sweep: SweepConfig) -> list[Block]:
    fields = list(axes)
    for field in fields[1:]:
        first, count = len(axes[fields[0]]), len(axes[field])
        if count != first:
            raise InputError(
                f"{fields[0]} has {first} values and {field} has {count}; "
                "sweep.combine = 'zip' needs lists of one length"
            )
    rows = zip(*axes.values(), strict=True)
    return [[dict(zip(fields, row, strict=True)) for row in rows]] if axes else []


def _random(axes: Settings, distributions: Settings, sweep: SweepConfig) -> list[Block]:
    if sweep.samples is None:
        raise InputError(
            "sweep.samples is not set; sweep.combine = 'random' needs the number of draws"
        )
    if not distributions:
        raise InputError(
            "sweep.combine = 'random' has nothing to draw; give a field a distribution, "
            "as train.learning_rate = {log_uniform = [0.001, 0.01]}"
        )
    drawn: dict[tuple[Any, ...], int] = {}
    for number in range(sweep.samples):
        values = tuple(
            draw(distribution, field, number, sweep.root_seed)
            for field, distribution in distributions.items()
        )
        same = drawn.setdefault(values, number)
        if same != number:
            drawing = ", ".join(f"{f} = {v!r}" for f, v in zip(distributions, values, strict=True))
            raise InputError(
                f"sweep.samples = {sweep.samples}: draws {same} and {number} are both {drawing}; "
                "use fewer samples, or a list for a field with few values"
            )
    draws = [dict(zip(distributions, values, strict=True)) for values in drawn]
    return [draws, *_grid(axes, distributions, sweep)]


COMBINATIONS: Mapping[str, Callable[[Settings, Settings, SweepConfig], list[Block]]] = {
    "grid": _grid,
    "zip": _zip,
    "random": _random,
}
"""From axes and distributions to blocks, by the name of the combination."""


def expand(settings: Settings, sweep: SweepConfig) -> Iterator[dict[str, Any]]:
    """The points of a layer in order, seeds apart: every field with one value.

    Raises:
        InputError: if the axes do not suit `sweep.combine`, or ask for too many runs.
    """
    axes = {field: value for field, value in settings.items() if isinstance(value, list)}
    distributions = {field: value for field, value in settings.items() if isinstance(value, dict)}
    if distributions and sweep.combine != "random":
        field = next(iter(distributions))
        raise InputError(
            f"{field} = {shown(distributions[field])} is a distribution, and sweep.combine is "
            f"{sweep.combine!r}; use 'random' and sweep.samples, or a list"
        )
    blocks = COMBINATIONS[sweep.combine](axes, distributions, sweep)
    runs = math.prod(map(len, blocks)) * len(sweep.seeds)
    if runs > MOST_RUNS:
        raise InputError(f"the sweep asks for {runs:,} runs; use at most {MOST_RUNS:,}")
    for parts in itertools.product(*blocks):
        point = dict(settings)
        for part in parts:
            point.update(part)
        yield point
