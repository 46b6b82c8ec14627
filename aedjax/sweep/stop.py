"""Stopping in good order: the first signal asks, a second Ctrl-C insists.

On SIGINT (Ctrl-C) or SIGTERM (what schedulers send before they kill) a worker writes a checkpoint
at the end of the stretch of training under way, and ends.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether a worker was asked to end."""

    def __init__(self) -> None:
        self.requested = False

    def request(self, number: int, frame: Any) -> None:
        """Handle a signal; a second Ctrl-C interrupts at once. Schedulers repeat SIGTERM as they
        please, and insist by other means."""
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True

    def sleep(self, seconds: float) -> None:
        """Sleep, but not on when a stop is requested."""
        until = time.monotonic() + seconds
        while not self.requested and time.monotonic() < until:
            time.sleep(min(0.2, seconds))


@contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """A Stop that the process's signals set while the block runs.

    Once a stop was asked for, the signals are ignored after the block: the process is about to end
    and has nothing more to be told.
    Signals reach only the main thread; in another one the Stop is never set.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.request) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if stop.requested else handler)
