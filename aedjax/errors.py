"""Errors a user can mend: one line that names the field, the value and the remedy."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input from the user. The command line prints it as one line and exits with 2."""


def unknown(field: str, value: object, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table, with the nearest one that is.

    >>> str(unknown("task.name", "escna", ["escan", "scan"]))
    "task.name = 'escna' is unknown; did you mean 'escan'? Known: escan, scan"
    """
    names = sorted(known)
    near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InputError(f"{field} = {value!r} is unknown; {hint}Known: {', '.join(names)}")
