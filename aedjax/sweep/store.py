"""The sweep on disk: one folder, in which a unit's result appears whole or not at all.

    sweep.json              the resolved spec and the format's version
    vocabularies.json       the words of every task, by id
    units/<id>/result.npz   metrics, parameters and status of a finished unit
    units/<id>/error.txt    why a unit failed, if it did
    results.zarr            every run's metrics in one dataset, written when the sweep ends

Every file is written to a temporary name beside its own, synced, and renamed. Nothing that is
read can run code: JSON, zarr, and npz without pickle.
"""

import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from aedjax.errors import InputError
from aedjax.sweep.engine import UnitResult

FORMAT = 1
"""Version of the layout above; a folder with a newer one is refused."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path that becomes `path` when the block ends, and vanishes when it raises."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _foreign(folder: Path) -> bool:
    """Whether a folder holds more than what `open_sweep` leaves when it is cut short."""
    own = {"units", "vocabularies.json"}
    return any(path.name not in own and path.suffix != ".tmp" for path in folder.iterdir())


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def open_sweep(folder: Path, document: Mapping[str, Any], vocabularies: Sequence[Any]) -> None:
    """Make `folder` the home of the sweep that `document` resolves to, or find it there.

    `vocabularies` is JSON-able: the words of the sweep's tasks, kept so that ids can be read
    where a task's own files are gone.

    Raises:
        InputError: if the folder holds another sweep or anything else, or cannot be written.
    """
    path = folder / "sweep.json"
    if path.exists():
        difference = _first_difference(read_document(folder), dict(document))
        if difference:
            raise InputError(
                f"out = {str(folder)!r} holds another sweep ({difference}); choose another folder"
            )
        return
    try:
        if folder.exists() and (not folder.is_dir() or _foreign(folder)):
            raise InputError(
                f"out = {str(folder)!r} exists and is not a sweep; choose a new or empty folder"
            )
        (folder / "units").mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, "spec": document}, indent=1, ensure_ascii=False)
        _write_text(folder / "vocabularies.json", json.dumps(vocabularies, ensure_ascii=False))
        _write_text(path, text)
    except OSError as error:
        raise InputError(
            f"out = {str(folder)!r} cannot be written ({error.strerror}); choose another folder"
        ) from None


def read_document(folder: Path) -> dict[str, Any]:
    """The resolved spec of a sweep's folder.

    Raises:
        InputError: if there is none, or one that this version cannot read.
    """
    path = Path(folder) / "sweep.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, document = content["format"], content["spec"]
    except FileNotFoundError:
        raise InputError(
            f"folder = {str(folder)!r} holds no sweep (no sweep.json); give the --out of a sweep"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"folder = {str(folder)!r} has a sweep.json that cannot be read ({error}); "
            "restore it or run the sweep into a new folder"
        ) from None
    if version != FORMAT:
        raise InputError(
            f"folder = {str(folder)!r} has format {version}, this aedjax reads {FORMAT}; "
            "use the version that wrote it"
        )
    return document


def _first_difference(old: Any, new: Any, where: str = "") -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = f"{where}.{key}" if where else key
            found = _first_difference(old.get(key), new.get(key), place)
            if found:
                return found
        return ""
    return "" if old == new else f"its {where} is {old!r}, yours {new!r}"


def result_path(folder: Path, unit: str) -> Path:
    """Where the result of a unit is, or will be."""
    return Path(folder) / "units" / unit / "result.npz"


def error_path(folder: Path, unit: str) -> Path:
    """Where the error of a unit that failed is."""
    return Path(folder) / "units" / unit / "error.txt"


def write_result(folder: Path, unit: str, result: UnitResult) -> None:
    """Keep what a unit found; an earlier error of the unit is forgotten."""
    arrays = {
        "steps": result.steps,
        "diverged_at": result.diverged_at,
        **{f"metric/{name}": values for name, values in result.metrics.items()},
        **{f"param/{path}": leaf for path, leaf in flatten_dict(result.params, sep="/").items()},
    }
    path = result_path(folder, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)
    error_path(folder, unit).unlink(missing_ok=True)


def read_result(folder: Path, unit: str) -> UnitResult:
    """What a unit found.

    Raises:
        InputError: if its file is damaged.
    """
    path = result_path(folder, unit)
    metrics, params = {}, {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for key in arrays.files:
                kind, _, name = key.partition("/")
                if kind == "metric":
                    metrics[name] = arrays[key]
                elif kind == "param":
                    params[name] = arrays[key]
            steps, diverged_at = arrays["steps"], arrays["diverged_at"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"unit file {str(path)!r} is damaged ({error}); delete it and run the sweep again"
        ) from None
    return UnitResult(steps, metrics, unflatten_dict(params, sep="/"), diverged_at)


def write_error(folder: Path, unit: str, error: BaseException) -> None:
    """Keep why a unit failed."""
    path = error_path(folder, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_text(path, f"{type(error).__name__}: {error}")
