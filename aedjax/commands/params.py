"""`aedjax params`: the parameters of one run."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, show


@dataclass(frozen=True)
class Params:
    """Hand out one run's trained parameters.

    Examples:
        aedjax params runs/quickstart --run 3 --out params.npz
        aedjax params runs/quickstart --run 3 --out params
    """

    folder: Folder
    """Folder of a sweep."""
    number: Annotated[int, tyro.conf.arg(name="run")] = 0
    """Number of the run, as in the loaded data."""
    out: Annotated[str, tyro.conf.arg(metavar="PATH")] = "params.npz"
    """An .npz with an array a parameter; or, without .npz, the folder of an Orbax checkpoint."""
    json: bool = False
    """Print the parameters' shapes as JSON."""

    def run(self) -> int:
        """Write the parameters and say what they are."""
        from aedjax.commands.devices import ready
        from aedjax.sweep.paths import output_file, output_new_folder, sweep_folder
        from aedjax.sweep.runs import load_run, save_params

        folder = sweep_folder(self.folder)
        if self.out.endswith(".npz"):
            out = output_file("out", self.out, ".npz")
        else:
            out = output_new_folder("out", self.out)
        ready(folder)
        params = save_params(load_run(folder, self.number), out)
        shapes = {name: list(array.shape) for name, array in params.items()}

        def table() -> None:
            for name, shape in shapes.items():
                print(f"{name:40s} {' x '.join(map(str, shape)) or 'number'}")
            print(f"written to {out}")

        show(self.json, {"out": str(out), "shapes": shapes}, table)
        return 0
