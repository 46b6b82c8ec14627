"""Check the device that trains: what it is, how fast, and whether aedjax's promises hold on it.

Each check says PASS, FAIL or SKIP and why; a FAIL makes the exit code 1.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from accelerator_checks import CHECKS, FULL, TINY, Bench, Found

from aedjax.cli import complete, prepare_jax
from aedjax.commands.devices import ready
from aedjax.errors import reason
from aedjax.sweep.files import write_text
from aedjax.sweep.paths import output_file

WORDS = {True: "PASS", False: "FAIL", None: "SKIP"}


def lines_of(name: str, bench: Bench) -> Iterator[tuple[bool | None, str]]:
    """The lines of one check, which fails if it raises; the first says how it went."""
    began = time.monotonic()
    try:
        found = CHECKS[name](bench)
    except Exception as error:
        found = Found(False, [f"{type(error).__name__}: {reason(error)}"])
    yield found.passed, f"{WORDS[found.passed]}  {name} ({time.monotonic() - began:.1f} s)"
    for line in found.lines:
        yield None, f"      {line}"


@dataclass(frozen=True)
class AcceleratorCheck:
    """Check in under 5 minutes that aedjax does on this device what it promises.

    Examples:
        launch/accelerator_check.sh report.txt
        launch/accelerator_check.sh --tiny
    """

    report: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="REPORT")] = ""
    """Text file that the report goes to as well; its name ends in .txt."""
    tiny: bool = False
    """Small sizes, to see that the checks themselves work."""

    def run(self) -> int:
        """Run every check; 1 if one failed."""
        path = output_file("report", self.report, ".txt") if self.report else None
        prepare_jax()
        ready()
        lines, failed = [], False
        with tempfile.TemporaryDirectory() as scratch:
            bench = Bench(TINY if self.tiny else FULL, Path(scratch))
            for name in CHECKS:
                for passed, line in lines_of(name, bench):
                    failed |= passed is False
                    lines.append(line)
                    print(line, flush=True)
        if path is not None:
            write_text(path, "\n".join(lines))
        return int(failed)


def main() -> int:
    command = tyro.cli(AcceleratorCheck, config=(tyro.conf.FlagCreatePairsOff,))
    return complete(command.run)


if __name__ == "__main__":
    sys.exit(main())
