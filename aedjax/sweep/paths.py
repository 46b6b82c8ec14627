"""Paths that a user gives, looked at before anything is computed, read or written."""

from pathlib import Path

from aedjax.errors import InputError


def check_text(option: str, text: str) -> None:
    """Raise InputError for a text that cannot be a path."""
    label = f"{option} = {text!r}"
    if not text:
        raise InputError(f"{label} is empty; give a path")
    if "\0" in text:
        raise InputError(f"{label} has a NUL character; give a path without one")


def sweep_folder(text: str) -> Path:
    """The folder of a sweep that is to be read; that it holds one is for the reader to find.

    Raises:
        InputError: for a file, and for what cannot be a path.
    """
    check_text("folder", text)
    path = Path(text)
    try:
        if path.exists() and not path.is_dir():
            raise InputError(
                f"folder = {text!r} is a file and not a folder; give the --out of a sweep"
            )
    except OSError as error:
        raise InputError(
            f"folder = {text!r} cannot be read ({error.strerror}); give the --out of a sweep"
        ) from None
    return path


def output_folder(option: str, text: str) -> Path:
    """The folder that results go to, there already or not.

    Raises:
        InputError: for what is or leads through something else, and for what cannot be a path.
    """
    _check_output(option, text, "folder")
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise InputError(f"{option} = {text!r} is a file and not a folder; choose a folder")
    return path


def output_file(option: str, text: str, suffix: str) -> Path:
    """The file that results go to, there already or not; its name ends in `suffix`.

    Raises:
        InputError: for another ending, for what is or leads through something else, and for what
            cannot be a path.
    """
    _check_output(option, text, "file")
    path = Path(text)
    if not text.endswith(suffix) or path.suffix != suffix:
        raise InputError(
            f"{option} = {text!r} does not end in {suffix}; name a file, as results{suffix}"
        )
    if path.is_dir():
        raise InputError(f"{option} = {text!r} is a folder; choose a file")
    return path


def output_new_folder(option: str, text: str) -> Path:
    """A folder that is made anew; it may be there if it is empty.

    Raises:
        InputError: for what is there, or leads through something else, or cannot be a path.
    """
    path = output_folder(option, text)
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{option} = {text!r} is there already; choose a new folder")
    return path


def _check_output(option: str, text: str, kind: str) -> None:
    check_text(option, text)
    path = Path(text)
    try:
        for place in (path, *path.parents):
            if place.is_symlink() and not place.exists():
                raise InputError(
                    f"{option} = {text!r}: {str(place)!r} is a link to nothing; remove the link "
                    f"or choose another {kind}"
                )
            if place != path and place.exists() and not place.is_dir():
                raise InputError(
                    f"{option} = {text!r}: {str(place)!r} is a file and not a folder; choose "
                    f"another {kind}"
                )
    except OSError as error:
        raise InputError(
            f"{option} = {text!r} cannot be written ({error.strerror}); choose another {kind}"
        ) from None
