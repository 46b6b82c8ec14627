"""`aedjax figures`: a sweep's pictures."""

from dataclasses import dataclass
from typing import Annotated

import tyro
from rich.console import Console

from aedjax.commands.options import Folder, show


@dataclass(frozen=True)
class Figures:
    """Draw a sweep's figures, as PNG and SVG, with their captions.

    Examples:
        aedjax figures runs/quickstart
    """

    folder: Folder
    """Folder of a sweep."""
    out: Annotated[str | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the figures; DIR/figures unless given."""
    json: bool = False
    """Print the paths as JSON."""

    def run(self) -> int:
        """Draw the figures and print where they are."""
        from aedjax.commands.devices import ready
        from aedjax.commands.running import draw, missing
        from aedjax.sweep.dataset import load
        from aedjax.sweep.paths import output_folder, sweep_folder

        folder = sweep_folder(self.folder)
        out = str(folder / "figures") if self.out is None else self.out
        ready(folder)
        data = load(folder)
        paths = draw(folder, data, output_folder("out", out))
        if missing(data):
            drawn = "drawn from the others" if paths else "nothing to draw"
            notes = Console(stderr=True, soft_wrap=True, highlight=False)
            notes.print(f"aedjax: {missing(data)}; {drawn}", markup=False)

        def table() -> None:
            for path in paths:
                print(path)

        show(self.json, {"figures": [str(path) for path in paths]}, table)
        return 0 if paths else 1
