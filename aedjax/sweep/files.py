"""Files and folders that appear whole or not at all, and can be seen to be whole.

Whatever is written goes to a temporary name in the same folder, is synced, and is renamed. A
folder of files can carry a list of checksums (`SHA256SUMS`, as `sha256sum -c` reads it).
"""

import hashlib
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aedjax.sweep.processes import Process, this_process

CHECKSUMS = "SHA256SUMS"
"""The list of checksums inside a folder that has one."""

TEMPORARY = ".tmp"
"""How the name of everything unfinished ends."""


class DamagedError(Exception):
    """A folder whose files are not those that its checksums name."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path that becomes `path` when the block ends, and vanishes when it raises.

    A file replaces a file; before a folder takes its place, what was there is removed.
    """
    temporary = temporary_name(path)
    try:
        yield temporary
        for part in [*temporary.rglob("*"), temporary]:
            _sync(part)
        if temporary.is_dir():
            remove(path)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        remove(temporary)


def write_text(path: Path, text: str) -> None:
    """Write a text file that appears whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def create_text(path: Path, text: str) -> bool:
    """Write a text file unless there is one; False if there is.

    Of several processes that try at once, on one host or many, one succeeds.
    """
    temporary = temporary_name(path)
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        _sync(temporary)
        # A hard link is atomic everywhere, network file systems included, and never replaces.
        os.link(temporary, path)
        _sync(path.parent)
        return True
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)


def temporary_name(path: Path) -> Path:
    """Where this process builds what becomes `path`: no other process uses that name."""
    owner = ".".join(map(str, this_process()))
    return path.with_name(f".{path.name}.{owner}{TEMPORARY}")


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this host that are gone left unfinished in a folder."""
    for path in folder.glob(f".*{TEMPORARY}"):
        _, _, owner = path.name.removesuffix(TEMPORARY).partition(f".{socket.gethostname()}.")
        pid, _, started = owner.partition(".")
        process = Process(socket.gethostname(), int(pid or 0), int(started or 0))
        if pid.isdigit() and not process.alive():
            remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_checksums(folder: Path) -> None:
    """Put a list of the checksums of all files of a folder into it."""
    lines = [f"{_digest(folder / name)}  {name}\n" for name in _files(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def verify_checksums(folder: Path) -> None:
    """Compare a folder with its checksums.

    Raises:
        DamagedError: it names the first file that is missing, changed or not listed.
    """
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
        listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        for name in sorted({*listed, *_files(folder)}):
            if name not in listed:
                raise DamagedError(f"{name} is not in {CHECKSUMS}")
            if _digest(folder / name) != listed[name]:
                raise DamagedError(f"{name} is not what was written")
    except FileNotFoundError as error:
        raise DamagedError(f"{Path(error.filename).relative_to(folder)} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedError(str(error)) from None


def _files(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = (path.relative_to(folder).as_posix() for path in paths)
    return sorted(name for name in names if name != CHECKSUMS)


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
