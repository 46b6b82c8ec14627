"""The plan of a sweep: groups that share a program, cut into units that are run one at a time.

Members that agree on every static field that they use form a group: one compiled program. The n
members that a spec brings to a group are cut into ⌈n / w⌉ units of sizes as equal as can be, w
the layout's width; a unit is the atom of scheduling, results and failure. A sweep that was
extended has several specs: what an earlier one cut is not cut anew. Ids are stable hashes of
contents: a member's or group's depends neither on its place nor on what else is in the sweep, a
unit's on its own members in their order and on its width.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aedjax.sweep.identity import canonical_json, stable_id, static_settings
from aedjax.sweep.sections import AXIS_SECTIONS
from aedjax.sweep.spec import Member, Spec, member_identity

WIDTH_PER_DEVICE = {"cpu": 8, "gpu": 256, "tpu": 256}
"""The most members of a unit for every device, by platform, unless another width is given. On a
CPU members run one after another, so that wider units would only make restarts coarser."""


class Layout(NamedTuple):
    """How a sweep is cut into units; it is recorded with the sweep, and every worker obeys it.

    `width` is the most members of a unit, `widths` the tuned width of some groups by their id.
    Widths of units are multiples of `devices`, the number of devices that `device_kind` names.
    """

    width: int
    devices: int
    device_kind: str
    widths: Mapping[str, int] = {}


class Group(NamedTuple):
    """Members that share a program, by their places in the spec, in order."""

    id: str
    members: tuple[int, ...]


class Unit(NamedTuple):
    """Members that are run together, by their places in the spec; `group` is an index. The
    engine fills a unit up to its width."""

    id: str
    group: int
    members: tuple[int, ...]
    width: int


class Plan(NamedTuple):
    """Groups in the order of their first members, and their units, group by group."""

    groups: tuple[Group, ...]
    units: tuple[Unit, ...]


def member_id(member: Member) -> str:
    """A stable id of a member's training: task, model, train and seed, used fields alone."""
    return stable_id("member", member_identity(member))


def group_identity(member: Member) -> dict[str, Any]:
    """What the program of a member depends on: its used static fields."""
    return {
        section: static_settings(getattr(member, section))
        for section in (*AXIS_SECTIONS, "analysis")
    }


def make_plan(specs: Sequence[Spec], layout: Layout) -> Plan:
    """The groups and units of a sweep whose specs, oldest first, each hold the ones before.

    Places are those of the last spec.
    """
    newest: dict[str, dict[str, int]] = _by_group(specs[-1])
    groups = tuple(
        Group(stable_id("group", identity), tuple(found.values()))
        for identity, found in newest.items()
    )
    cut: list[list[Unit]] = [[] for _ in groups]
    known: set[str] = set()
    for spec in specs:
        generation = _by_group(spec) if spec is not specs[-1] else newest
        for index, identity in enumerate(newest):
            fresh = [id for id in generation.get(identity, ()) if id not in known]
            places = [newest[identity][id] for id in fresh]
            group = groups[index].id
            width = balanced_width(len(places), layout.widths.get(group, layout.width), layout)
            cut[index] += _units(group, index, places, fresh, width)
            known.update(fresh)
    return Plan(groups, tuple(unit for units in cut for unit in units))


def _by_group(spec: Spec) -> dict[str, dict[str, int]]:
    """The place of every member by the identity of its group and by its id."""
    places: dict[str, dict[str, int]] = {}
    for place, member in enumerate(spec.members):
        group = places.setdefault(canonical_json(group_identity(member)), {})
        group[member_id(member)] = place
    return places


def balanced_width(members: int, most: int, layout: Layout) -> int:
    """The width of the fewest equal units of at most `most` members, for all devices alike."""
    pieces = max(1, -(-members // most))
    width = max(1, -(-members // pieces))
    return width + -width % layout.devices


def _units(
    group: str, index: int, places: Sequence[int], ids: Sequence[str], width: int
) -> Iterator[Unit]:
    pieces = -(-len(places) // width)
    for piece in range(pieces):
        start, end = (len(places) * k // pieces for k in (piece, piece + 1))
        id = stable_id("unit", group, ids[start:end], width)
        yield Unit(id, index, tuple(places[start:end]), width)


def narrower(width: int, devices: int) -> int | None:
    """Half a width, for all devices alike; None if it cannot be halved."""
    half = -(-width // 2)
    half += -half % devices
    return half if half < width else None


def halves(unit: Unit, plan: Plan, spec: Spec, devices: int) -> tuple[Unit, ...]:
    """The units of half the width that take the place of one that does not fit in memory."""
    width = narrower(unit.width, devices)
    if width is None:
        return (unit,)
    ids = [member_id(spec.members[place]) for place in unit.members]
    return tuple(_units(plan.groups[unit.group].id, unit.group, unit.members, ids, width))
