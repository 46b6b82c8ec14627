"""The sweep as data: one xarray Dataset with a flat `run` dimension.

Every hyperparameter, seed and status is a coordinate of `run`; metrics are variables by their own
names. `<metric>` is the trained network's on the test set, `<metric>_initial` the untrained
network's, `<metric>_curve` has a `step` dimension as well.
"""

import dataclasses
import json
import platform
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from aedjax.analysis.metrics import COORDINATES, dimensions_of
from aedjax.errors import InputError
from aedjax.sweep.identity import used_settings
from aedjax.sweep.plan import Plan, make_plan, member_id
from aedjax.sweep.spec import Member, Spec, spec_from_document
from aedjax.sweep.store import (
    error_path,
    read_document,
    read_result,
    replacing,
    result_path,
)
from aedjax.version import __version__

STATUSES = ("ok", "diverged", "failed", "pending")


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
    spec = spec_from_document(read_document(folder))
    path = folder / "results.zarr"
    if path.exists():
        try:
            return _ordered(xr.open_zarr(path, consolidated=False).load())
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{str(path)!r} is damaged ({error}); delete it: the units hold the same data"
            ) from None
    return gather(folder, spec)


def consolidate(folder: Path, spec: Spec) -> xr.Dataset:
    """Gather every unit into `results.zarr`, and return it."""
    data = gather(folder, spec)
    path = folder / "results.zarr"
    with replacing(path) as temporary:
        with warnings.catch_warnings():
            # Fixed-width strings have no place in the zarr 3 standard yet; xarray reads them back.
            warnings.filterwarnings("ignore", message=".*Zarr.*")
            data.to_zarr(temporary, mode="w", consolidated=False)
        if path.exists():
            shutil.rmtree(path)
    return data


def gather(folder: Path, spec: Spec) -> xr.Dataset:
    """The data of the units finished so far, read from their files."""
    plan: Plan = make_plan(spec)
    parts = [_unit_data(folder, plan, spec, unit) for unit in plan.units]
    with_data = [part for part in parts if part.data_vars] or parts
    rest = [part for part in parts if not part.data_vars and with_data is not parts]
    data = xr.concat([*with_data, *rest], dim="run", join="outer", data_vars="all", coords="all")
    data = data.sortby("run")
    if "step" in data.dims:
        data = data.sortby("step")
    data = data.assign_coords(_coordinates(spec.members, data["status"].values))
    return _ordered(data.assign_attrs(title=spec.name, provenance=json.dumps(provenance())))


def _ordered(data: xr.Dataset) -> xr.Dataset:
    """The same data with coordinates and variables by name: files keep no order of their own."""
    coords = {name: data.coords[name] for name in sorted(data.coords, key=str)}
    variables = {name: data[name].variable for name in sorted(data.data_vars, key=str)}
    return xr.Dataset(variables, coords, data.attrs)


def _unit_data(folder: Path, plan: Plan, spec: Spec, unit: Any) -> xr.Dataset:
    runs = list(unit.members)
    if not result_path(folder, unit.id).exists():
        missing = "failed" if error_path(folder, unit.id).exists() else "pending"
        return xr.Dataset(coords={"run": runs, "status": ("run", [missing] * len(runs))})
    result = read_result(folder, unit.id)
    analysis = spec.members[runs[0]].analysis
    labels = {**COORDINATES, "method": analysis.methods, "fit": analysis.fit}
    variables: dict[str, Any] = {}
    used: set[str] = set()
    for name, values in result.metrics.items():
        dimensions = dimensions_of(name)
        used.update(dimensions)
        values = values.astype(np.float32)
        variables[name] = (("run", *dimensions), values[:, -1])
        variables[f"{name}_initial"] = (("run", *dimensions), values[:, 0])
        variables[f"{name}_curve"] = (("run", "step", *dimensions), values)
    status = np.where(result.diverged_at >= 0, "diverged", "ok")
    coords = {
        "run": runs,
        "step": result.steps,
        "status": ("run", status),
        **{dimension: list(labels[dimension]) for dimension in sorted(used)},
    }
    variables["diverged_at"] = (
        "run",
        np.where(result.diverged_at >= 0, result.diverged_at, np.nan),
    )
    return xr.Dataset(variables, coords)


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


def provenance() -> dict[str, str]:
    """Where and with what a result was made; the one part of the data that depends on the host."""
    device = jax.devices()[0]
    return {
        "aedjax": __version__,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "device": f"{len(jax.devices())} x {device.device_kind}",
    }
