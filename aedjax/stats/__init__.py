"""Statistics of a loaded sweep. The unit of replication is the seed."""

from aedjax.stats.aggregate import aggregate
from aedjax.stats.cells import Cell, cells, varying
from aedjax.stats.compare import Comparison, compare, render_table, to_records
from aedjax.stats.estimate import Estimate, estimates, iqm
from aedjax.stats.tidy import tidy

__all__ = [
    "Cell",
    "Comparison",
    "Estimate",
    "aggregate",
    "cells",
    "compare",
    "estimates",
    "iqm",
    "render_table",
    "tidy",
    "to_records",
    "varying",
]
