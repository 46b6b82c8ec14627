"""aedjax: many small encoder-decoder networks at once, and what their attention is made of.

aedjax.train(...)             one network, from a task's name to metrics and parameters
aedjax.load(folder)           a sweep as an xarray.Dataset
aedjax.tidy(data)             the same as a table with one row a run
aedjax.compare(data, metric)  tasks and architectures with intervals over seeds
aedjax.decompose(...)         any states in temporal, input and delta parts
aedjax.attribute(...)         any attention scores in their nine terms
"""

from aedjax.analysis import Attribution, attribute, decompose, measure
from aedjax.errors import InputError
from aedjax.models import make_model
from aedjax.models.config import ModelConfig
from aedjax.models.decoding import greedy
from aedjax.stats import aggregate, compare, tidy
from aedjax.sweep.dataset import load
from aedjax.sweep.one import Trained, train
from aedjax.sweep.runs import Run, load_run
from aedjax.tasks import TaskConfig, make_task
from aedjax.types import Batch, Components, Outputs, Readout, States
from aedjax.version import __version__

__all__ = [
    "Attribution",
    "Batch",
    "Components",
    "InputError",
    "ModelConfig",
    "Outputs",
    "Readout",
    "Run",
    "States",
    "TaskConfig",
    "Trained",
    "__version__",
    "aggregate",
    "attribute",
    "compare",
    "decompose",
    "greedy",
    "load",
    "load_run",
    "make_model",
    "make_task",
    "measure",
    "tidy",
    "train",
]
