"""The plan of a sweep: groups that share a program, cut into units that are run one at a time.

Members that agree on every static field that they use form a group: one compiled program. A group
of n members is cut into ⌈n / width⌉ units of sizes as equal as can be; a unit is the atom of
scheduling, results and failure. Ids are stable hashes of contents: a member's or group's depends
neither on its place nor on what else is in the sweep, a unit's on its own members in their order.
"""

from typing import Any, NamedTuple

from aedjax.errors import InputError
from aedjax.sweep.identity import canonical_json, stable_id, static_settings
from aedjax.sweep.sections import AXIS_SECTIONS
from aedjax.sweep.spec import Member, Spec, member_identity

WIDTH = 64
"""The most members of a unit unless another width is given."""


class Group(NamedTuple):
    """Members that share a program: their places in the spec, in order, and the unit's width."""

    id: str
    members: tuple[int, ...]
    width: int


class Unit(NamedTuple):
    """Members that are run together, by their places in the spec; `group` is an index."""

    id: str
    group: int
    members: tuple[int, ...]


class Plan(NamedTuple):
    """Groups in the order of their first members, and their units in order."""

    groups: tuple[Group, ...]
    units: tuple[Unit, ...]

    def width_of(self, group: int) -> int:
        """The width of every unit of a group; the engine fills a smaller unit up to it."""
        return self.groups[group].width


def member_id(member: Member) -> str:
    """A stable id of a member's training: task, model, train and seed, used fields alone."""
    return stable_id("member", member_identity(member))


def group_identity(member: Member) -> dict[str, Any]:
    """What the program of a member depends on: its used static fields."""
    return {
        section: static_settings(getattr(member, section))
        for section in (*AXIS_SECTIONS, "analysis")
    }


def make_plan(spec: Spec, width: int = WIDTH) -> Plan:
    """The groups and units of a sweep, in units of at most `width` members.

    Raises:
        InputError: if the width is not positive.
    """
    if width < 1:
        raise InputError(f"width = {width} is too small; use at least 1")
    places: dict[str, list[int]] = {}
    for place, member in enumerate(spec.members):
        places.setdefault(canonical_json(group_identity(member)), []).append(place)
    groups, units = [], []
    for index, (identity, members) in enumerate(places.items()):
        pieces = -(-len(members) // width)
        group = Group(stable_id("group", identity), tuple(members), -(-len(members) // pieces))
        groups.append(group)
        for piece in range(pieces):
            start, end = (len(members) * k // pieces for k in (piece, piece + 1))
            ids = [member_id(spec.members[place]) for place in members[start:end]]
            units.append(Unit(stable_id("unit", group.id, ids), index, tuple(members[start:end])))
    return Plan(tuple(groups), tuple(units))
