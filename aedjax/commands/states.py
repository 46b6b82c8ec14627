"""`aedjax states`: everything another program needs to check an analysis."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, show


@dataclass(frozen=True)
class States:
    """Write one run's states, attention, weights and split to an npz that anyone can check.

    Examples:
        aedjax states runs/quickstart --run 0 --method joint --out states.npz
    """

    folder: Folder
    """Folder of a sweep."""
    number: Annotated[int, tyro.conf.arg(name="run")] = 0
    """Number of the run, as in the loaded data."""
    method: str = "sequential"
    """How the states are split: sequential or joint."""
    out: Annotated[str, tyro.conf.arg(metavar="FILE")] = "states.npz"
    """The file to write."""
    json: bool = False
    """Print the arrays' shapes as JSON."""

    def run(self) -> int:
        """Write the file and say what it holds."""
        from aedjax.sweep.runs import load_run, save_states

        arrays = save_states(load_run(self.folder, self.number), self.method, Path(self.out))
        shapes = {name: list(array.shape) for name, array in arrays.items()}

        def table() -> None:
            for name, shape in shapes.items():
                print(f"{name:20s} {' x '.join(map(str, shape)) or 'text'}")
            print(f"written to {self.out}")

        show(self.json, {"out": self.out, "shapes": shapes}, table)
        return 0
