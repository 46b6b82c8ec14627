"""What a sweep is, on disk: `sweep.json`, which every worker on the folder obeys.

It holds the format's version, every spec that the sweep had (an extended sweep has several, oldest
first), the layout of its units, and a checksum of these. `vocabularies.json` beside it holds the
words of every task by id, so that they can be read where a task's own files are gone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aedjax.errors import InputError
from aedjax.sweep.document import layers
from aedjax.sweep.files import create_text, write_text
from aedjax.sweep.identity import stable_id
from aedjax.sweep.lease import claim, finish
from aedjax.sweep.plan import Layout, Plan, make_plan, member_id
from aedjax.sweep.spec import Spec, spec_from_document

FORMAT = 1
"""Version of the folder's layout; a folder with another one is refused."""

OWN = {"units", "leases", "narrowed", "vocabularies.json", "results.zarr", "figures", "slurm"}
"""What may be in a folder before it has a sweep.json, left by a start that was cut short or only
submitted."""


@dataclass(frozen=True)
class Record:
    """A sweep as its folder has it: its specs, oldest first, and how they are cut into units."""

    specs: tuple[Spec, ...]
    layout: Layout

    @property
    def spec(self) -> Spec:
        """The spec as it is now."""
        return self.specs[-1]

    @cached_property
    def plan(self) -> Plan:
        """Its groups and units."""
        return make_plan(self.specs, self.layout)


def open_record(
    folder: Path,
    spec: Spec,
    vocabularies: Sequence[Any],
    make_layout: Callable[[], Layout],
) -> Record:
    """Make `folder` the home of a sweep, or find the sweep there, extended where axes grew.

    Args:
        folder: the sweep's folder.
        spec: what the user asks for.
        vocabularies: the words of the sweep's tasks, JSON-able.
        make_layout: called where the sweep is new.

    Raises:
        InputError: if the folder holds another sweep or anything else, or cannot be written.
    """
    path = folder / "sweep.json"
    try:
        if not path.exists():
            if folder.exists() and (not folder.is_dir() or _foreign(folder)):
                raise InputError(
                    f"out = {str(folder)!r} exists and is not a sweep; choose a new or empty folder"
                )
            layout = make_layout()
            (folder / "units").mkdir(parents=True, exist_ok=True)
            _write_vocabularies(folder, vocabularies)
            if create_text(path, _text([spec.document], layout)):
                return Record((spec,), layout)
        record = read_record(folder)
        if record.spec.document == spec.document:
            return record
        _check_extends(folder, record.spec, spec)
        return _extended(folder, spec, vocabularies)
    except OSError as error:
        raise InputError(
            f"out = {str(folder)!r} cannot be written ({error.strerror}); choose another folder, "
            "or make it writable"
        ) from None


def _foreign(folder: Path) -> bool:
    return any(path.name not in OWN and path.suffix != ".tmp" for path in folder.iterdir())


def _write_vocabularies(folder: Path, vocabularies: Sequence[Any]) -> None:
    write_text(folder / "vocabularies.json", json.dumps(vocabularies, ensure_ascii=False))


def _text(documents: Sequence[Mapping[str, Any]], layout: Layout) -> str:
    content = {"format": FORMAT, "layout": layout._asdict(), "specs": list(documents)}
    return json.dumps({**content, "checksum": stable_id(content)}, indent=1, ensure_ascii=False)


def read_record(folder: Path) -> Record:
    """The sweep that a folder holds.

    Raises:
        InputError: if there is none, or one that is damaged or of another version.
    """
    path = Path(folder) / "sweep.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["format"]
    except FileNotFoundError:
        raise InputError(
            f"folder = {str(folder)!r} holds no sweep (no sweep.json); give the --out of a sweep"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(folder, f"cannot be read ({error})") from None
    if version != FORMAT:
        raise InputError(
            f"folder = {str(folder)!r} has format {version!r}, this aedjax reads {FORMAT}; "
            "use the version that wrote it"
        )
    checksum = content.pop("checksum", None)
    if checksum != stable_id(content):
        raise _damaged(folder, "was changed since it was written (its checksum differs)")
    layout = Layout(**content["layout"])
    return Record(tuple(spec_from_document(document) for document in content["specs"]), layout)


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(
        f"folder = {str(folder)!r} has a sweep.json that {what}; restore it, or run the sweep "
        "into a new folder"
    )


def _check_extends(folder: Path, old: Spec, new: Spec) -> None:
    """Raise InputError unless every member of `old` is in `new`, analysed alike."""
    have = {(member_id(member), member.analysis) for member in new.members}
    missing = any((member_id(member), member.analysis) not in have for member in old.members)
    if missing or old.root_seed != new.root_seed:
        raise InputError(
            f"out = {str(folder)!r} holds another sweep ({_difference(old, new)}); choose another "
            "folder, or only add to its axes"
        )


def _difference(old: Spec, new: Spec) -> str:
    """The first setting in which two specs differ, each [[case]] laid over the rest."""
    ours, theirs = layers(old.document), layers(new.document)
    for one, other in zip(ours, theirs, strict=False):
        for section, keys in one.items():
            for key, value in keys.items():
                if value != other[section][key]:
                    return f"its {section}.{key} is {value!r}, yours {other[section][key]!r}"
    return f"it has {len(ours)} cases, yours {len(theirs)}"


def _extended(folder: Path, spec: Spec, vocabularies: Sequence[Any]) -> Record:
    """Add a spec to the record, one process at a time."""
    lease = claim(folder / "leases" / "record")
    if lease is None:
        raise InputError(
            f"out = {str(folder)!r} is being extended by another process; run the command again"
        )
    try:
        record = read_record(folder)
        _check_extends(folder, record.spec, spec)
        if record.spec.document == spec.document:
            return record
        record = Record((*record.specs, spec), record.layout)
        _write_vocabularies(folder, vocabularies)
        write_text(
            folder / "sweep.json", _text([old.document for old in record.specs], record.layout)
        )
        return record
    finally:
        finish(lease)
