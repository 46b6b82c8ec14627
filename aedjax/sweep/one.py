"""One network from Python: a sweep of one, in a folder or in memory's stead."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

from aedjax.errors import shown
from aedjax.sweep.paths import output_folder
from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.runs import Run, load_run
from aedjax.sweep.sections import check_seed
from aedjax.sweep.spec import spec_of_one


class Trained(NamedTuple):
    """A trained network: `run` has its task, model and parameters, `data` its metrics."""

    run: Run
    data: xr.Dataset


def train(
    task: str = "one_to_one",
    architecture: str = "aed",
    seed: int = 0,
    *,
    steps: int = 1500,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
) -> Trained:
    """Train and analyse one network, as `aedjax train` does.

    Args:
        task: name of the task, as in `aedjax list tasks`.
        architecture: name of the architecture, as in `aedjax list models`.
        seed: seed of its data and its initial parameters.
        steps: training steps.
        settings: other settings of a spec, as {"model.hidden_size": 32}.
        out: folder that keeps the results; none is kept unless given.

    Returns:
        the run, and the same Dataset that `load` gives, with one run.

    Raises:
        InputError: for an unknown name, a value that does not fit, or a folder in use.
    """
    overrides = [f"{field}={_toml(value)}" for field, value in (settings or {}).items()]
    check_seed(f"seed = {shown(seed)}", seed)
    folder = None if out is None else output_folder("out", str(out))
    spec = spec_of_one(task, architecture, seed, steps, overrides)
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or Path(scratch) / "run"
        data = run_sweep(spec, folder, Silent()).data
        return Trained(load_run(folder, 0), data)


def _toml(value: Any) -> str:
    """A scalar or a list as TOML writes it: JSON, but for NaN and infinity."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value)
