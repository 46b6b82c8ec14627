"""The sweep as data: one xarray Dataset with a flat `run` dimension.

Every hyperparameter, seed and status is a coordinate of `run`; metrics are variables by their own
names. `<metric>` is the trained network's on the test set, `<metric>_initial` the untrained
network's, `<metric>_curve` has a `step` dimension as well.
"""

import dataclasses
import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from aedjax.errors import InputError
from aedjax.sweep.files import (
    DamagedError,
    remove_leftovers,
    replacing,
    verify_checksums,
    write_checksums,
)
from aedjax.sweep.identity import stable_id, used_settings
from aedjax.sweep.lease import claim, finish, heartbeat, remove_dead
from aedjax.sweep.plan import member_id
from aedjax.sweep.provenance import provenance
from aedjax.sweep.record import Record, read_record
from aedjax.sweep.spec import Member
from aedjax.sweep.store import (
    Seen,
    current_units,
    look,
    read_result,
    tidy_unit,
)
from aedjax.sweep.table import Table

TRAINED = ("ok", "diverged")
"""The statuses of runs that have metrics."""


def load(folder: str | Path) -> xr.Dataset:
    """The data of a sweep, finished or not.

    Runs are in the order that the spec determines. A run whose unit has not finished has
    `status` "pending" (or "failed") and NaN metrics; one whose loss blew up has "diverged", the
    step in `diverged_at`, and keeps its metrics.

    Args:
        folder: where the sweep is (`--out`).

    Returns:
        variables over `run` (and `step`, `method`, `fit`, `kind`, `decoder_part`,
        `encoder_part`, ... where a metric has them); the attribute `provenance` is JSON text.

    Raises:
        InputError: if the folder holds no sweep, or a damaged one.
    """
    folder = Path(folder)
    record = read_record(folder)
    seen = look(folder)
    path = folder / "results.zarr"
    if path.exists():
        stored, now = _stored(path), _contents(folder, record, seen)
        before = json.loads(stored.attrs["contents"])
        if before == now:
            return _ordered(stored)
        _check_missing(folder, before, now)
    return gather(folder, record, seen)


def _stored(path: Path) -> xr.Dataset:
    try:
        verify_checksums(path)
        return xr.open_zarr(path).load()
    except DamagedError as error:
        raise InputError(
            f"{str(path)!r} is damaged ({error}); delete it: the units hold the same data"
        ) from None


def _contents(folder: Path, record: Record, seen: Seen) -> dict[str, Any]:
    """What data of a folder is made of: its plan, and the units that are over."""
    units = [unit.id for unit in current_units(folder, record)]
    finished = [unit for unit in units if unit in seen.finished]
    failed = [unit for unit in units if unit in seen.failed]
    return {
        "plan": stable_id(units, record.spec.document),
        "finished": len(finished),
        "units": stable_id(finished, failed),
    }


def _check_missing(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    if before["plan"] == now["plan"] and before["finished"] > now["finished"]:
        raise InputError(
            f"folder = {str(folder)!r} has lost the results of "
            f"{before['finished'] - now['finished']} of {before['finished']} units; restore them, "
            "or run the sweep again, which runs these units alone"
        )


def consolidate(folder: Path, record: Record) -> xr.Dataset:
    """Gather every unit into `results.zarr`, unless that is done, and return the data.

    If another process is at it, the data is only returned.
    """
    seen = look(folder)
    for unit in seen.finished & seen.begun:
        tidy_unit(folder, unit)
    for shard in (folder / "units").glob("??"):
        remove_leftovers(shard)
    for name in ("record", "results"):
        remove_dead(folder / "leases" / name)
    path = folder / "results.zarr"
    with suppress(InputError):
        if path.exists():
            stored = _stored(path)
            if json.loads(stored.attrs["contents"]) == _contents(folder, record, seen):
                return _ordered(stored)
    data = gather(folder, record, seen)
    lease = claim(folder / "leases" / "results")
    if lease is not None:
        with heartbeat(lease):
            remove_leftovers(folder)
            _write(data, path)
        finish(lease)
    return data


def _write(data: xr.Dataset, path: Path) -> None:
    with replacing(path) as temporary:
        with warnings.catch_warnings():
            # Neither fixed-width strings nor one file for the metadata of all arrays is in the
            # zarr 3 standard yet; xarray reads them back.
            warnings.filterwarnings("ignore", message=".*Zarr.*")
            data.to_zarr(temporary, mode="w", consolidated=True)
        write_checksums(temporary)


def gather(folder: Path, record: Record, seen: Seen) -> xr.Dataset:
    """The data of the units that were seen to be finished, read from their files."""
    members = record.spec.members
    status = np.full(len(members), "pending", "<U8")
    diverged_at = np.full(len(members), np.nan)
    table = Table(len(members))
    for unit in current_units(folder, record):
        places = list(unit.members)
        if unit.id not in seen.finished:
            status[places] = "failed" if unit.id in seen.failed else "pending"
            continue
        result = read_result(folder, unit.id)
        diverged = result.diverged_at >= 0
        status[places] = np.where(diverged, "diverged", "ok")
        diverged_at[places] = np.where(diverged, result.diverged_at, np.nan)
        table.add(places, result, members[places[0]].analysis)
    last = np.array([member.train.steps for member in members])
    data = table.dataset(last)
    if table.curves:
        data = data.assign(diverged_at=("run", diverged_at))
    data = data.assign_coords(_coordinates(members, status))
    contents = json.dumps(_contents(folder, record, seen))
    attributes = {"title": record.spec.name, "contents": contents}
    return _ordered(data.assign_attrs(**attributes, provenance=json.dumps(provenance())))


def _ordered(data: xr.Dataset) -> xr.Dataset:
    """The same data with coordinates and variables by name: files keep no order of their own."""
    coords = {name: data.coords[name] for name in sorted(data.coords, key=str)}
    variables = {name: data[name].variable for name in sorted(data.data_vars, key=str)}
    return xr.Dataset(variables, coords, data.attrs)


def _coordinates(members: Sequence[Member], status: np.ndarray) -> Mapping[str, Any]:
    rows = [{"member": member_id(member), **settings_of(member)} for member in members]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    return {name: ("run", column) for name, column in {**columns, "status": status}.items()}


def _column(values: list[Any]) -> np.ndarray:
    known = [value for value in values if value is not None]
    if not known or isinstance(known[0], str):
        return np.array(["" if value is None else value for value in values])
    if len(known) == len(values):
        return np.array(values)
    return np.array([np.nan if value is None else value for value in values], float)


def settings_of(member: Member) -> dict[str, Any]:
    """A member's hyperparameters by coordinate name; None where its task or architecture does not
    use the field."""
    settings: dict[str, Any] = {}
    for config in (member.task, member.model, member.train):
        used = used_settings(config)
        settings |= {field.name: used.get(field.name) for field in dataclasses.fields(config)}
    return {"task": settings.pop("name"), **settings, "seed": member.seed}
