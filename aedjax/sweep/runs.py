"""One run of a sweep again: its parameters, its network's outputs, the file anyone can check."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict

from aedjax.analysis import METHODS, decompose
from aedjax.analysis.metrics import COORDINATES, dimensions_of, measure
from aedjax.errors import InputError, unknown
from aedjax.models import Model, Params, make_model
from aedjax.sweep.checkpoint import save_tree
from aedjax.sweep.files import replacing
from aedjax.sweep.plan import Unit
from aedjax.sweep.record import Record, read_record
from aedjax.sweep.spec import Member
from aedjax.sweep.store import current_units, read_result, result_path
from aedjax.tasks import Task, make_task
from aedjax.types import PAD, PARTS, Batch, Outputs

ATTENTION_FIELDS = ("query", "key", "value", "scores", "attention", "context")
FIT = "in_sample"
"""The samples that an exported split is fitted on: those that are exported."""


class Run(NamedTuple):
    """A finished run: what it is, its task and network, and its trained parameters."""

    member: Member
    task: Task
    model: Model
    params: Params


def load_run(folder: str | Path, run: int) -> Run:
    """Run number `run` of a sweep.

    Raises:
        InputError: if the sweep has no such run, or it has not finished.
    """
    folder = Path(folder)
    record = read_record(folder)
    spec = record.spec
    unit = unit_of(folder, record, run)
    place = unit.members.index(run)
    params = jax.tree.map(lambda leaf: leaf[place], read_result(folder, unit.id).params)
    member = spec.members[run]
    task = make_task(member.task)
    model = make_model(member.model, len(task.encoder_vocabulary), len(task.decoder_vocabulary))
    return Run(member, task, model, params)


def unit_of(folder: Path, record: Record, run: int) -> Unit:
    """The finished unit that holds a run.

    Raises:
        InputError: if the sweep has no such run, or it has not finished.
    """
    last = len(record.spec.members) - 1
    if not 0 <= run <= last:
        raise InputError(f"run = {run} does not exist; {str(folder)!r} has runs 0 to {last}")
    units = current_units(folder, record)
    unit = next(unit for unit in units if run in unit.members)
    if not result_path(folder, unit.id).exists():
        raise InputError(f"run = {run} has not finished; run the sweep to its end first")
    return unit


def outputs_of(run: Run, samples: int | None = None) -> tuple[Batch, Outputs]:
    """The test samples that the run was analysed on (or another number), and its outputs."""
    batch = run.task.test(samples or run.member.analysis.samples)
    return batch, jax.jit(run.model.apply)(run.params, batch)


def export_states(run: Run, method: str) -> dict[str, np.ndarray]:
    """Everything that another program needs to check an analysis, as plain arrays.

    The split is the in-sample split by `method`; `metrics_json` (0-d text) is what the metrics
    say for exactly these arrays, beside the "method" and the "fit" that they are by. At padded
    positions the parts are 0, and states, scores and logits mean nothing. Without attention its
    arrays are absent; with the decoder left out of the readout, `readout_decoder` is zero.

    Raises:
        InputError: for an unknown method.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    batch, outputs = outputs_of(run)
    states, readout = outputs.states, run.model.readout(run.params)
    arrays: dict[str, Any] = {
        "encoder_states": states.encoder,
        "decoder_states": states.decoder,
        "encoder_words": batch.encoder_words,
        "decoder_words": batch.decoder_words,
        "targets": batch.targets,
        "encoder_mask": batch.encoder_mask,
        "decoder_mask": batch.decoder_mask,
        "logits": outputs.logits,
        "readout_decoder": readout.decoder,
        "readout_bias": readout.bias,
    }
    sides: dict[str, Any] = {
        "encoder": (states.encoder, "encoder"),
        "decoder": (states.decoder, "decoder"),
    }
    if states.attention is not None:
        arrays |= {name: getattr(states, name) for name in ATTENTION_FIELDS}
        arrays["readout_context"] = readout.context
        if run.member.model.attention == "learned":
            sides |= {
                "query": (states.query, "decoder"),
                "key": (states.key, "encoder"),
                "value": (states.value, "encoder"),
            }
    read = {
        "encoder": (batch.encoder_words, batch.encoder_mask, len(run.task.encoder_vocabulary)),
        "decoder": (batch.decoder_words, batch.decoder_mask, len(run.task.decoder_vocabulary)),
    }
    for name, (values, side) in sides.items():
        words, mask, vocabulary = read[side]
        components = decompose(values, words, mask, method=method, vocabulary=vocabulary)
        arrays |= {f"{name}_{part}": getattr(components, part) for part in PARTS}
    metrics = metrics_of(run, batch, outputs, method)
    arrays["metrics_json"] = json.dumps({"method": method, "fit": FIT, **metrics})
    return {name: np.asarray(value) for name, value in arrays.items()}


def metrics_of(run: Run, batch: Batch, outputs: Outputs, method: str) -> dict[str, Any]:
    """The metrics of one network with the in-sample split, as nested dictionaries by label."""
    vocabularies = len(run.task.encoder_vocabulary), len(run.task.decoder_vocabulary)
    measured = jax.jit(measure, static_argnums=(2, 3, 4, 5))(
        batch, outputs, (method,), (FIT,), *vocabularies
    )
    return {name: _labelled(name, np.asarray(values)) for name, values in measured.items()}


def _labelled(name: str, values: np.ndarray) -> Any:
    dimensions = list(dimensions_of(name))
    for single in ("method", "fit"):
        if single in dimensions:
            values = np.take(values, 0, axis=dimensions.index(single))
            dimensions.remove(single)

    def nest(values: Any, dimensions: list[str]) -> Any:
        if not dimensions:
            return float(values) if np.isfinite(values) else None
        labels = COORDINATES[dimensions[0]]
        rows = zip(labels, values, strict=True)
        return {str(label): nest(row, dimensions[1:]) for label, row in rows}

    return nest(values, dimensions)


def save_states(run: Run, method: str, out: Path) -> dict[str, np.ndarray]:
    """Write `export_states` to a compressed npz and return it; the file appears whole or not."""
    arrays: dict[str, Any] = export_states(run, method)
    with _writing(out) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)
    return arrays


def save_params(run: Run, out: Path) -> dict[str, np.ndarray]:
    """Write a run's parameters, by path, and return them.

    An `out` that ends in .npz becomes an npz with a name a path ("encoder/cell/kernel"); any other
    an Orbax checkpoint of the tree, a folder.

    Raises:
        InputError: if `out` cannot be written.
    """
    flat = {path: np.asarray(leaf) for path, leaf in flatten_dict(run.params, sep="/").items()}
    with _writing(out) as temporary:
        if out.suffix == ".npz":
            with open(temporary, "wb") as file:
                np.savez(file, **flat)  # type: ignore[arg-type]
        else:
            save_tree(temporary, jax.tree.map(np.asarray, run.params))
    return flat


@contextmanager
def _writing(out: Path) -> Iterator[Path]:
    """A temporary path that becomes `out`.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(
            f"out = {str(out)!r} cannot be written ({error.strerror}); choose another file"
        ) from None


def sentences(vocabulary: Sequence[str], words: Any) -> list[list[str]]:
    """The words of each sample as text, without padding."""
    return [[vocabulary[word] for word in row if word != PAD] for row in np.asarray(words)]
