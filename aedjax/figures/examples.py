"""The runs that figures of single networks show: one of each task and architecture."""

from pathlib import Path

import numpy as np
import xarray as xr

from aedjax.analysis import fit
from aedjax.figures.example import Example
from aedjax.sweep.runs import Run, load_run, outputs_of, sentences

METHOD = "joint"
"""The split whose temporal parts are drawn."""
SAMPLES = 256
"""Test samples of an example."""


def examples_of(folder: Path, data: xr.Dataset) -> list[Example]:
    """Of each task and architecture, the run of median token accuracy among those that are ok."""
    kinds = list(zip(data["task"].values, data["architecture"].values, strict=True))
    ok = data["status"].values == "ok"
    found = []
    for kind in dict.fromkeys(kinds):
        runs = np.flatnonzero([one == kind for one in kinds] & ok)
        if runs.size:
            accuracy = data["token_accuracy"].values[runs]
            middle = runs[np.argsort(accuracy, kind="stable")[(len(runs) - 1) // 2]]
            found.append(example(load_run(folder, int(middle)), int(middle)))
    return found


def example(run: Run, number: int) -> Example:
    """What figures show of one run, on its first test samples."""
    batch, outputs = outputs_of(run, SAMPLES)
    states, member = outputs.states, run.member
    read = {
        "encoder": (batch.encoder_words, batch.encoder_mask, len(run.task.encoder_vocabulary)),
        "decoder": (batch.decoder_words, batch.decoder_mask, len(run.task.decoder_vocabulary)),
    }
    temporal = {}
    for side, (words, mask, vocabulary) in read.items():
        temporal[side] = fit(getattr(states, side), words, mask, METHOD, vocabulary).temporal
    attention = mean = None
    if states.attention is not None:
        valid = np.asarray(batch.decoder_mask[:, :, None] & batch.encoder_mask[:, None, :])
        attention = np.asarray(states.attention)
        count = valid.sum(0)
        total = attention.sum(0, where=valid)
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(attention.dtype)
    return Example(
        task=member.task.name,
        architecture=member.model.architecture,
        label=f"{member.model.architecture}, run {number}, seed {member.seed}",
        encoder_words=sentences(run.task.encoder_vocabulary, batch.encoder_words),
        target_words=sentences(run.task.decoder_vocabulary, batch.targets),
        attention=attention,
        mean_attention=mean,
        encoder_temporal=np.asarray(temporal["encoder"]),
        decoder_temporal=np.asarray(temporal["decoder"]),
        encoder_count=np.asarray(batch.encoder_mask.sum(0)),
        decoder_count=np.asarray(batch.decoder_mask.sum(0)),
    )
