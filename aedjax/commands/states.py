"""`aedjax states`: everything another program needs to check an analysis."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, show


@dataclass(frozen=True)
class States:
    """Write one run's states, attention, weights and split to an npz that anyone can check.

    At padded positions (encoder_mask, decoder_mask false) the parts of the split are 0, while the
    states themselves, the scores and the logits are not meaningful there.

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
    """The file to write, its name ending in .npz."""
    json: bool = False
    """Print the arrays' shapes as JSON."""

    def run(self) -> int:
        """Write the file and say what it holds."""
        from aedjax.commands.devices import ready
        from aedjax.sweep.paths import output_file, sweep_folder
        from aedjax.sweep.runs import load_run, save_states

        out = output_file("out", self.out, ".npz")
        folder = sweep_folder(self.folder)
        ready(folder)
        run = load_run(folder, self.number)
        arrays = save_states(run, self.method, out)
        shapes = {name: list(array.shape) for name, array in arrays.items()}

        def table() -> None:
            for name, shape in shapes.items():
                print(f"{name:20s} {' x '.join(map(str, shape)) or 'text'}")
            print(f"written to {self.out}")

        show(self.json, {"out": self.out, "shapes": shapes}, table)
        return 0
