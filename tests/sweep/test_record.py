"""A folder is one sweep's, which may only grow."""

import json

import pytest

from aedjax.errors import InputError
from aedjax.sweep.files import temporary_name
from aedjax.sweep.plan import Layout
from aedjax.sweep.record import open_record, read_record
from aedjax.sweep.spec import spec_from_document

LAYOUT = Layout(4, 1, "cpu")


def spec(**document):
    return spec_from_document({"name": "one", "train": {"steps": 3}} | document)


def opened(folder, spec):
    return open_record(folder, spec, [], lambda: LAYOUT)


def test_the_same_sweep_is_found_again(tmp_path):
    first = opened(tmp_path / "s", spec())
    again = open_record(tmp_path / "s", spec(), [], lambda: pytest.fail("a second layout"))
    assert first == again == read_record(tmp_path / "s")
    assert again.layout == LAYOUT


def test_a_folder_whose_opening_was_cut_short_is_taken_up(tmp_path):
    (tmp_path / "s" / "units").mkdir(parents=True)
    temporary_name(tmp_path / "s" / "sweep.json").write_text("{")
    opened(tmp_path / "s", spec())


CHANGED = {
    "train.steps is 3, yours 4": {"train": {"steps": 4}},
    "sweep.root_seed is 0, yours 1": {"sweep": {"root_seed": 1}},
    "analysis.every is 0, yours 2": {"analysis": {"every": 2}},
    r"sweep.seeds is \[0, 1, 2, 3\], yours \[0, 1\]": {"sweep": {"seeds": 2}},
    "model.architecture is 'aed', yours 'ao'": {"model": {"architecture": "ao"}},
}


@pytest.mark.parametrize("message", CHANGED)
def test_another_sweep_is_refused_by_field(tmp_path, message):
    opened(tmp_path / "s", spec())
    before = (tmp_path / "s" / "sweep.json").read_bytes()
    other = spec(**{"name": "renamed", **CHANGED[message]})
    with pytest.raises(InputError, match=rf"another sweep \(its {message}\)"):
        opened(tmp_path / "s", other)
    assert (tmp_path / "s" / "sweep.json").read_bytes() == before


def test_a_change_in_a_case_is_named_as_the_case_has_it(tmp_path):
    cases = [{"train": {"steps": steps}} for steps in (5, 6)]
    opened(tmp_path / "s", spec(case=cases))
    with pytest.raises(InputError, match=r"its train.steps is 5, yours 7"):
        opened(tmp_path / "s", spec(train={"steps": 7}))
    with pytest.raises(InputError, match=r"it has 2 cases, yours 1"):
        opened(tmp_path / "s", spec(case=cases[:1]))


GROWN = [
    {"sweep": {"seeds": 9}},
    {"train": {"steps": 3, "learning_rate": [0.01, 0.003]}},
    {"model": {"architecture": ["ved", "aed"]}},
    {"case": [{"task": {"name": "sort"}}, {}]},
]


@pytest.mark.parametrize("grown", GROWN)
def test_a_grown_sweep_keeps_its_old_units(tmp_path, grown):
    old = opened(tmp_path / "s", spec())
    new = opened(tmp_path / "s", spec(**grown))
    assert new == read_record(tmp_path / "s")
    ids = [unit.id for unit in old.plan.units]
    kept = [unit for unit in new.plan.units if unit.id in ids]
    assert len(kept) == len(ids)
    for unit, was in zip(kept, old.plan.units, strict=True):
        members = [new.spec.members[place] for place in unit.members]
        assert members == [old.spec.members[place] for place in was.members]
    places = [place for unit in new.plan.units for place in unit.members]
    assert sorted(places) == list(range(len(new.spec.members)))
    assert not [path for path in (tmp_path / "s").rglob("lease*") if path.is_file()]


def test_the_spec_of_before_it_grew_is_refused(tmp_path):
    opened(tmp_path / "s", spec())
    opened(tmp_path / "s", spec(sweep={"seeds": 9}))
    with pytest.raises(InputError, match=r"another sweep \(its sweep.seeds"):
        opened(tmp_path / "s", spec())


def test_foreign_folders_and_files_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="is not a sweep"):
        opened(tmp_path / "full", spec())
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is not a sweep"):
        opened(tmp_path / "full" / "thesis.tex", spec())
    with pytest.raises(InputError, match="cannot be written"):
        opened(tmp_path / "full" / "thesis.tex" / "below", spec())
    with pytest.raises(InputError, match="holds no sweep"):
        read_record(tmp_path / "full")


@pytest.mark.parametrize("text", ["{", "[]", '"text"', "1", "\xff", "[" * 100_000])
def test_a_damaged_record_is_named(tmp_path, text):
    (tmp_path / "sweep.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"sweep\.json that cannot be read"):
        read_record(tmp_path)


def test_a_newer_format_is_refused(tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="has format 99"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "before_after", [('"steps": 3', '"steps": 4'), ('"width": 4', '"width": 2')]
)
def test_a_record_changed_by_hand_is_refused(tmp_path, before_after):
    opened(tmp_path / "s", spec())
    path = tmp_path / "s" / "sweep.json"
    path.write_text(path.read_text().replace(*before_after))
    for call in (lambda: read_record(tmp_path / "s"), lambda: opened(tmp_path / "s", spec())):
        with pytest.raises(InputError, match="was changed since it was written"):
            call()
