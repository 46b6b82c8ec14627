"""The `aedjax` program: a table of commands, and what becomes of their errors.

Standard output carries results, standard error progress and errors. Exit codes: 0 finished,
1 something failed (a reader of the output that went away too, which is quiet), 2 bad input,
130 interrupted.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Union

import tyro
from rich.console import Console

from aedjax.commands.compare import Compare
from aedjax.commands.devices import Devices, ready
from aedjax.commands.figures import Figures
from aedjax.commands.list import List
from aedjax.commands.params import Params
from aedjax.commands.plan import Plan
from aedjax.commands.replay import Replay
from aedjax.commands.states import States
from aedjax.commands.status import Status
from aedjax.commands.streams import accept_every_character, discard, drop_lost_output, flush_output
from aedjax.commands.sweep import Sweep
from aedjax.commands.train import Train
from aedjax.commands.worker import Worker
from aedjax.errors import FailureError, InputError
from aedjax.version import __version__

COMMANDS: dict[str, type] = {
    "sweep": Sweep,
    "train": Train,
    "plan": Plan,
    "status": Status,
    "worker": Worker,
    "replay": Replay,
    "params": Params,
    "compare": Compare,
    "figures": Figures,
    "states": States,
    "list": List,
    "devices": Devices,
}
"""Every command by name: a dataclass of its options, whose `run()` returns the exit code."""

DESCRIPTION = """Train many small encoder-decoder networks at once and measure how they attend.

Examples:
    aedjax sweep sweeps/quickstart.toml --out runs/quickstart
    aedjax train --task escan --architecture aed --seed 0
    aedjax compare runs/quickstart --metric token_accuracy
    aedjax COMMAND --help
"""


def main() -> None:
    """The program's entry."""
    accept_every_character()
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    return complete(lambda: _run(arguments))


def complete(program: Callable[[], int]) -> int:
    """Call a program and return its exit code; an error that users can mend becomes one line."""
    try:
        try:
            return program()
        finally:
            flush_output()
    except InputError as error:
        return _failed(f"error: {error}", 2)
    except FailureError as error:
        return _failed(f"error: {error}", 1)
    except KeyboardInterrupt:
        return _failed("interrupted; what is finished is kept, the same command goes on", 130)
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` has.
        discard(sys.stdout)
        return 1
    except OSError as error:
        drop_lost_output()
        # What is written to a stream that is open names no file.
        place = f"{error.filename!r}" if error.filename else "standard output or a file"
        what = f"{place} cannot be used ({error.strerror})"
        return _failed(f"error: {what}; mend that and run the same command again", 1)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"aedjax {__version__}")
        return 0
    command = parse(arguments or ["--help"])
    prepare_jax()
    try:
        return command.run()
    except (RuntimeError, AssertionError):
        # A command that seldom computes did: is there anything to compute on?
        ready()
        raise


def _failed(message: str, code: int) -> int:
    """Say what happened on standard error, if that can be written, and return the exit code."""
    try:
        Console(stderr=True, soft_wrap=True, highlight=False).print(
            f"aedjax: {message}", markup=False
        )
    except OSError:
        discard(sys.stderr)
    return code


def parse(arguments: list[str]) -> Any:
    """The command that the arguments ask for, its options filled in.

    Raises:
        InputError: what tyro would have drawn as a box, as one line.
    """
    choices = [
        Annotated[command, tyro.conf.subcommand(name, prefix_name=False)]
        for name, command in COMMANDS.items()
    ]
    any_command: Any = Union[tuple(choices)]  # noqa: UP007 (built from a table)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(
                any_command,
                prog="aedjax",
                description=DESCRIPTION,
                args=arguments,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if not stop.code:
            raise
        raise InputError(_one_line(complaint.getvalue(), arguments)) from None


def _one_line(box: str, arguments: list[str]) -> str:
    """The first paragraph of tyro's box, below its title, and where to read more."""
    _, *lines = box.splitlines()
    ruled = ["" if set(line) <= set("─-│| ") else line.strip("│| ") for line in lines]
    paragraphs = "\n".join(ruled).strip("\n").split("\n\n")
    paragraph = " ".join(paragraphs[0].split())
    known = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    return f"{paragraph}; see `{' '.join(f'aedjax {known} --help'.split())}`"


def prepare_jax() -> None:
    """One host device a core, and compiled programs kept from run to run.

    The programs are kept in JAX_COMPILATION_CACHE_DIR, or else in the user's cache folder.
    """
    import jax

    from aedjax.sweep.backends import use_every_core

    use_every_core()
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        jax.config.update("jax_compilation_cache_dir", str(Path(home) / "aedjax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
