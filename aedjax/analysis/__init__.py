"""What hidden states and attention are made of: splits, attributions, metrics.

Works on any arrays; it knows neither tasks nor models.
"""

from aedjax.analysis.attribution import Attribution, attribute, nine_terms, shares
from aedjax.analysis.decomposition import METHODS, decompose, fit, split
from aedjax.analysis.metrics import COORDINATES, METRICS, Metric, dimensions_of, measure

__all__ = [
    "COORDINATES",
    "METHODS",
    "METRICS",
    "Attribution",
    "Metric",
    "attribute",
    "decompose",
    "dimensions_of",
    "fit",
    "measure",
    "nine_terms",
    "shares",
    "split",
]
