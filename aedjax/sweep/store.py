"""The sweep on disk: one folder, in which a unit's result appears whole or not at all.

    sweep.json                        the specs and the layout (`sweep.record`)
    vocabularies.json                 the words of every task, by id
    units/<ab>/<id>.npz               metrics, parameters and status of a finished unit
    units/<ab>/<id>.error             why a unit failed, if it did
    units/<ab>/<id>.split             it did not fit in memory: its halves are run in its place
    units/<ab>/<id>/                  while it is run:
        lease.<k>                     who runs it (`sweep.lease`)
        checkpoints/<k>               its training after k steps (`sweep.checkpoint`)
    narrowed/<group>                  the width that fits in memory, where the layout's does not
    results.zarr                      every run's metrics in one dataset, written at the end

Units are spread over 256 folders by the first two digits of their ids, so that as many listings
tell how all of them stand (`look`). Nothing that is read can run code: JSON, zarr, Orbax, and npz
without pickle.
"""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from aedjax.errors import InputError
from aedjax.sweep.engine import UnitResult
from aedjax.sweep.files import remove, replacing, write_text
from aedjax.sweep.lease import holder
from aedjax.sweep.plan import Unit, halves
from aedjax.sweep.record import Record


class Seen(NamedTuple):
    """The ids of the units that are finished, failed, split, and that have a folder: they are
    run, or were run by a process that is gone."""

    finished: frozenset[str]
    failed: frozenset[str]
    split: frozenset[str]
    begun: frozenset[str]

    def over(self, unit: str) -> bool:
        """Whether a unit is not to be run."""
        return unit in self.finished or unit in self.failed or unit in self.split


def look(folder: Path) -> Seen:
    """How all units stand, from a listing of each of the folders that they are spread over."""
    names: dict[str, set[str]] = {".npz": set(), ".error": set(), ".split": set(), "": set()}
    for shard in (Path(folder) / "units").glob("??"):
        for name in os.listdir(shard):
            stem, dot, kind = name.partition(".")
            if stem and dot + kind in names:
                names[dot + kind].add(stem)
    return Seen(*map(frozenset, names.values()))


def unit_folder(folder: Path, unit: str) -> Path:
    """Where a unit is run: its lease and its checkpoints."""
    return Path(folder) / "units" / unit[:2] / unit


def result_path(folder: Path, unit: str) -> Path:
    """Where the result of a unit is, or will be."""
    return unit_folder(folder, unit).with_suffix(".npz")


def error_path(folder: Path, unit: str) -> Path:
    """Where the error of a unit that failed is."""
    return unit_folder(folder, unit).with_suffix(".error")


def split_path(folder: Path, unit: str) -> Path:
    """Where it says that a unit's halves are run in its place."""
    return unit_folder(folder, unit).with_suffix(".split")


def checkpoints_folder(folder: Path, unit: str) -> Path:
    """Where the checkpoints of a unit are while it is trained."""
    return unit_folder(folder, unit) / "checkpoints"


def current_units(folder: Path, record: Record) -> list[Unit]:
    """The units of a sweep, those that did not fit in memory replaced by their halves."""
    if not (Path(folder) / "narrowed").exists():
        return list(record.plan.units)
    split = look(folder).split

    def parts(unit: Unit) -> Iterator[Unit]:
        cut = halves(unit, record.plan, record.spec, record.layout.devices)
        if unit.id not in split or cut == (unit,):
            yield unit
        else:
            for half in cut:
                yield from parts(half)

    return [part for unit in record.plan.units for part in parts(unit)]


def split_unit(folder: Path, unit: Unit) -> None:
    """Record that the halves of a unit are to be run in its place."""
    write_text(split_path(folder, unit.id), str(unit.width))
    remove(checkpoints_folder(folder, unit.id))


def narrow_group(folder: Path, group: str, width: int) -> None:
    """Record the width of a group's units that fits in memory; a narrower one stands."""
    path = Path(folder) / "narrowed" / group
    path.parent.mkdir(exist_ok=True)
    known = narrowed_width(folder, group)
    if known is None or width < known:
        write_text(path, str(width))


def narrowed_width(folder: Path, group: str) -> int | None:
    """The width of a group that fits in memory, None while the layout's does."""
    try:
        return int((Path(folder) / "narrowed" / group).read_text())
    except (FileNotFoundError, ValueError):
        return None


def write_result(folder: Path, unit: Unit, result: UnitResult) -> None:
    """Keep what a unit found; an earlier error and the checkpoints of the unit are forgotten."""
    arrays = {
        "steps": result.steps,
        "diverged_at": result.diverged_at,
        "provenance": np.array(json.dumps(result.provenance)),
        **{f"metric/{name}": values for name, values in result.metrics.items()},
        **{f"param/{path}": leaf for path, leaf in flatten_dict(result.params, sep="/").items()},
    }
    path = result_path(folder, unit.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)
    error_path(folder, unit.id).unlink(missing_ok=True)
    remove(checkpoints_folder(folder, unit.id))


def tidy_unit(folder: Path, unit: str) -> None:
    """Remove the folder of a unit that is finished, if whoever ran it is gone: it was killed just
    after it had written the result."""
    place = unit_folder(folder, unit)
    if place.exists() and holder(place) is None:
        remove(place)


def read_result(folder: Path, unit: str) -> UnitResult:
    """What a unit found.

    Raises:
        InputError: if its file is missing or damaged.
    """
    metrics, params = {}, {}
    with _result(folder, unit) as arrays:
        for key in arrays.files:
            kind, _, name = key.partition("/")
            if kind == "metric":
                metrics[name] = arrays[key]
            elif kind == "param":
                params[name] = arrays[key]
        steps, diverged_at = arrays["steps"], arrays["diverged_at"]
        provenance = json.loads(str(arrays["provenance"]))
    return UnitResult(steps, metrics, unflatten_dict(params, sep="/"), diverged_at, provenance)


def read_diverged_at(folder: Path, unit: str) -> np.ndarray:
    """At which step each member of a unit diverged, −1 if it did not; the rest is not read.

    Raises:
        InputError: if the unit's file is missing or damaged.
    """
    with _result(folder, unit) as arrays:
        return arrays["diverged_at"]


@contextmanager
def _result(folder: Path, unit: str) -> Iterator[Any]:
    path = result_path(folder, unit)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(
            f"unit file {str(path)!r} is missing or damaged ({error}); delete it and run the "
            "sweep again, which runs this unit alone"
        ) from None


def write_error(folder: Path, unit: str, reason: str) -> None:
    """Keep why a unit failed."""
    path = error_path(folder, unit)
    os.makedirs(path.parent, exist_ok=True)
    write_text(path, reason)
