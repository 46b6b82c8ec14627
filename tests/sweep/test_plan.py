"""The plan: groups by static fields, units of equal size, ids that depend on contents alone."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aedjax.fields import static_fields, traced_fields
from aedjax.models.config import ModelConfig
from aedjax.sweep.identity import stable_id
from aedjax.sweep.plan import Layout, Plan, halves, member_id
from aedjax.sweep.plan import make_plan as plan_of_specs
from aedjax.sweep.spec import Spec, spec_from_document
from aedjax.training import TrainConfig

BASE = {
    "name": "plan",
    "model": {"architecture": ["ved", "aed"]},
    "train": {"learning_rate": [0.001, 0.003]},
    "sweep": {"seeds": 3},
}


def make_plan(spec: Spec, width: int = 64, devices: int = 1) -> Plan:
    return plan_of_specs([spec], Layout(width, devices, "cpu"))


def spec_of(**document) -> Spec:
    return spec_from_document(BASE | document)


def ids(spec: Spec) -> dict:
    return {member: member_id(member) for member in spec.members}


def groups_with(section: str, key: str, value, other) -> int:
    return len(make_plan(spec_from_document({"name": "g", section: {key: [value, other]}})).groups)


OTHER = {
    "architecture": ("aed", "ved"),
    "cell": ("gru", "lstm"),
    "attention": ("dot", "learned"),
    "dtype": ("float32", "bfloat16"),
}


@pytest.mark.parametrize("section", ["model", "train"])
def test_static_fields_part_groups_and_traced_ones_do_not(section):
    config = {"model": ModelConfig, "train": TrainConfig}[section]
    for key in static_fields(config):
        assert groups_with(section, key, *OTHER.get(key, (8, 16))) == 2, key
    for key in traced_fields(config):
        assert groups_with(section, key, 0.5, 0.25) == 1, key


def test_groups_are_members_that_share_a_program_in_spec_order():
    plan = make_plan(spec_of())
    assert [group.members for group in plan.groups] == [tuple(range(6)), tuple(range(6, 12))]
    cased = spec_of(
        case=[
            {"model": {"architecture": a}, "sweep": {"seeds": s}}
            for a, s in (
                ("ved", [0]),
                ("aed", [0]),
                ("ved", [1]),
            )
        ]
    )
    assert [group.members for group in make_plan(cased).groups] == [(0, 1, 4, 5), (2, 3)]


def test_a_field_that_is_not_used_parts_no_group():
    cases = [
        {"model": {"architecture": "ao", "cell": cell}, "sweep": {"seeds": [seed]}}
        for seed, cell in enumerate(["gru", "lstm"])
    ]
    assert len(make_plan(spec_of(case=cases)).groups) == 1


def test_analysis_parts_groups_but_is_no_part_of_a_member():
    cases = [
        {"analysis": {"methods": method}, "sweep": {"seeds": [seed]}}
        for seed, method in enumerate(["joint", "sequential"])
    ]
    assert len(make_plan(spec_of(model={}, case=cases)).groups) == 2
    other = spec_of(analysis={"methods": "joint"})
    assert list(ids(other).values()) == list(ids(spec_of()).values())
    unit, other_unit = make_plan(spec_of()).units[0], make_plan(other).units[0]
    assert unit.members == other_unit.members
    assert unit.id != other_unit.id


@given(st.integers(1, 40), st.integers(1, 50))
def test_units_cover_the_members_in_as_few_and_equal_pieces_as_can_be(seeds, width):
    spec = spec_of(train={}, sweep={"seeds": seeds})
    plan = make_plan(spec, width)
    places = [place for unit in plan.units for place in unit.members]
    assert places == list(range(2 * seeds))
    for index in range(2):
        units = [unit for unit in plan.units if unit.group == index]
        sizes = [len(unit.members) for unit in units]
        assert len(sizes) == -(-seeds // width)
        assert max(sizes) - min(sizes) <= 1
        assert {unit.width for unit in units} == {max(sizes)}


def test_ids_are_hexadecimal_and_differ():
    spec = spec_of()
    plan = make_plan(spec, width=2)
    found = [*ids(spec).values(), *(g.id for g in plan.groups), *(u.id for u in plan.units)]
    assert len(set(found)) == len(found) == 12 + 2 + 6
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in found)


def test_a_member_id_is_the_hash_of_the_fields_that_its_run_uses():
    """Written out, since a changed id would orphan results on disk."""
    document = {"name": "x", "task": {"name": "sort"}, "model": {"architecture": "ao"}}
    model = {"architecture": "ao", "attention": "dot", "hidden_size": 64, "embedding_size": 64}
    identity = {
        "task": {"name": "sort", "num_words": 3, "min_length": 10, "max_length": 15},
        "model": {**model, "embedding_scale": 0.1},
        "train": {
            "steps": 1500,
            "batch_size": 64,
            "dtype": "float32",
            "learning_rate": 0.003,
            "learning_rate_decay": 1.0,
            "weight_decay": 0.0,
            "clip_norm": 1.0,
        },
        "seed": 0,
    }
    assert member_id(spec_from_document(document).members[0]) == stable_id("member", identity)


def test_same_spec_same_plan():
    assert make_plan(spec_of()) == make_plan(spec_of())
    renamed = spec_of(name="other")
    assert make_plan(renamed) == make_plan(spec_of())


@pytest.mark.parametrize(
    "grown",
    [
        {"sweep": {"seeds": [7, 2, 1, 0]}},
        {"train": {"learning_rate": [0.01, 0.003, 0.001]}},
        {"model": {"architecture": ["ao", "aed", "ved"]}},
        {"case": [{"task": {"name": "sort"}}, {}]},
    ],
)
def test_growing_axes_changes_no_other_id(grown):
    small, large = ids(spec_of()), ids(spec_of(**grown))
    assert len(large) > len(small)
    assert {member: large[member] for member in small} == small


def test_ids_do_not_depend_on_order():
    """A shuffled spec has the same groups, and a group of one unit the same unit."""
    spec = spec_of(sweep={"seeds": 1}, train={})
    shuffled = list(spec.members)
    random.Random(1).shuffle(shuffled)
    one, other = make_plan(spec), make_plan(Spec("s", tuple(shuffled), 0, {}))
    assert {group.id for group in one.groups} == {group.id for group in other.groups}
    assert {unit.id for unit in one.units} == {unit.id for unit in other.units}


@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 4))
def test_widths_are_multiples_of_the_devices_and_hold_their_members(seeds, width, devices):
    plan = make_plan(spec_of(train={}, sweep={"seeds": seeds}), width, devices)
    for unit in plan.units:
        assert unit.width % devices == 0
        assert len(unit.members) <= unit.width < width + devices


@given(st.integers(2, 40), st.integers(1, 4))
def test_halves_have_the_members_of_the_whole(seeds, devices):
    spec = spec_of(model={}, train={}, sweep={"seeds": seeds})
    plan = make_plan(spec, 64, devices)
    (unit,) = plan.units
    parts = halves(unit, plan, spec, devices)
    assert [place for part in parts for place in part.members] == list(unit.members)
    if unit.width > devices:
        assert all(part.width < unit.width for part in parts)
        assert all(len(part.members) <= part.width for part in parts)
    else:
        assert parts == (unit,)


def test_a_tuned_width_is_its_groups_alone():
    spec = spec_of(sweep={"seeds": 8})
    group = make_plan(spec).groups[1].id
    plan = plan_of_specs([spec], Layout(64, 1, "cpu", {group: 4}))
    assert [unit.width for unit in plan.units] == [16, 4, 4, 4, 4]
