"""`aedjax figures`: a sweep's pictures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from aedjax.commands.options import Folder, show


@dataclass(frozen=True)
class Figures:
    """Draw a sweep's figures, as PNG and SVG, with their captions.

    Examples:
        aedjax figures runs/quickstart
    """

    folder: Folder
    """Folder of a sweep."""
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""
    """Folder of the figures; DIR/figures unless given."""
    json: bool = False
    """Print the paths as JSON."""

    def run(self) -> int:
        """Draw the figures and print where they are."""
        from aedjax.commands.running import draw

        paths = draw(Path(self.folder), Path(self.out) if self.out else None)

        def table() -> None:
            for path in paths:
                print(path)

        show(self.json, {"figures": [str(path) for path in paths]}, table)
        return 0
