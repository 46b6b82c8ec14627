"""Errors a user can mend: one line that names the field, the value and the remedy."""

import datetime
import difflib
from collections.abc import Iterable
from typing import Any

LONGEST = 200
"""Characters of a value that a message shows."""

OUT_OF_MEMORY = ("resource_exhausted", "out of memory")
"""What the errors of a device whose memory is full say, in lower case."""


class InputError(ValueError):
    """Bad input from the user. The command line prints it as one line and exits with 2."""


class FailureError(Exception):
    """Something failed that was no bad input. The command line prints it as one line and exits
    with 1."""


def unknown(field: str, value: object, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table, with the nearest one that is.

    >>> str(unknown("task.name", "escna", ["escan", "scan"]))
    "task.name = 'escna' is unknown; did you mean 'escan'? Known: escan, scan"
    """
    names = sorted(known)
    text = value if isinstance(value, str) else shown(value)
    near = difflib.get_close_matches(text, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InputError(f"{field} = {shown(value)} is unknown; {hint}Known: {', '.join(names)}")


def shown(value: Any) -> str:
    """A value as a message shows it: on one line, a date as TOML writes it, nothing endless.

    >>> shown([datetime.date(2020, 1, 1), 0.1, "a"])
    "[2020-01-01, 0.1, 'a']"
    """
    text = _written(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().replace("+00:00", "Z")
    # Python refuses to write very long whole numbers as decimals.
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST:
        return f"{value:#x}"
    return repr(value)


def reason(error: BaseException) -> str:
    """Why something failed, as one line: the first of the error's own, and a remedy where memory
    was what it lacked.

    >>> reason(MemoryError("Unable to allocate 7 TiB"))[:56]
    'Unable to allocate 7 TiB; use a smaller train.batch_size'
    """
    text = str(error).strip()
    first = text.splitlines()[0].rstrip() if text else type(error).__name__
    full = isinstance(error, MemoryError) or any(sign in text.lower() for sign in OUT_OF_MEMORY)
    remedy = "use a smaller train.batch_size, model.hidden_size or analysis.samples"
    return f"{first.rstrip('.')}; {remedy}" if full else first
