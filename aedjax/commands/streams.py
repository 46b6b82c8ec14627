"""Standard output and standard error: any encoding, a reader that is gone, a disk that is full."""

import os
import sys
from typing import TextIO


def accept_every_character() -> None:
    """Let characters that an encoding lacks be written as escapes, not stop the program."""
    for stream in (sys.stdout, sys.stderr):
        # A stream is None where the program was started with it closed.
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def flush_output() -> None:
    """Write out what standard output holds back.

    Raises:
        OSError: if it cannot be written.
    """
    if sys.stdout is not None:
        sys.stdout.flush()


def drop_lost_output() -> None:
    """Discard what standard output holds back if it cannot be written: it would fail once more
    when Python ends."""
    try:
        flush_output()
    except OSError:
        discard(sys.stdout)


def discard(stream: TextIO | None) -> None:
    """Send what a stream holds back, and all that follows, nowhere."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
