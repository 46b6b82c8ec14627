"""`aedjax replay`: train one run of a sweep again, and compare."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from aedjax.commands.options import Folder, Quiet, show


@dataclass(frozen=True)
class Replay:
    """Train one run again and compare it with what the sweep has, bit for bit.

    The exit code is 0 if they are the same, 1 if not.

    Examples:
        aedjax replay runs/quickstart --run 3
        aedjax replay runs/quickstart --run 3 --steps 150
    """

    folder: Folder
    """Folder of a sweep."""
    number: Annotated[int, tyro.conf.arg(name="run")] = 0
    """Number of the run, as in the loaded data."""
    steps: int | None = None
    """Stop at this step, one of those at which the run was analysed; its last unless given."""
    quiet: Quiet = False
    json: bool = False
    """Print the differences as JSON."""

    def run(self) -> int:
        """Train and compare."""
        from aedjax.commands.devices import ready
        from aedjax.commands.running import reporting
        from aedjax.sweep.paths import sweep_folder
        from aedjax.sweep.replay import replay

        folder = sweep_folder(self.folder)
        ready(folder)
        with reporting(self.quiet) as report:
            found = replay(folder, self.number, self.steps, report)
        different = {name: gap for name, gap in found.differences.items() if gap}
        content: dict[str, Any] = {
            "run": self.number,
            "step": found.step,
            "exact": found.exact,
            "compared": len(found.differences),
            "different": {name: gap for name, gap in different.items() if gap != float("inf")},
            "infinitely_different": [n for n, gap in different.items() if gap == float("inf")],
        }

        def people() -> None:
            print(
                f"run {self.number} at step {found.step:,}: {len(found.differences)} arrays, "
                f"{'all' if found.exact else len(found.differences) - len(different)} "
                "bitwise as in the sweep"
            )
            for name, gap in different.items():
                print(f"{name} differs by at most {gap:.3g}")

        show(self.json, content, people)
        return 0 if found.exact else 1
