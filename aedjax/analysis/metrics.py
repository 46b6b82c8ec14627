"""Everything measured of one network, as a table: a new metric is a function and a line here.

Levels say what a metric's function reads, and with that when it applies:

- network: (batch, outputs); always.
- attention: (batch, outputs) of a network with attention.
- alignment: (batch, outputs) of one with attention, on a task that knows the true alignment.
- split: (evaluation), the split of the states by one method and one fit.
- attention_split: (evaluation) of a network with attention.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from aedjax.analysis import accuracy, attention, split_metrics, term_metrics
from aedjax.analysis.attribution import KINDS
from aedjax.analysis.decomposition import METHODS
from aedjax.analysis.evaluation import FITS, evaluate, fit_sides, halves, sides_of
from aedjax.errors import unknown
from aedjax.types import PARTS, Batch, Outputs

LEVELS: dict[str, Callable[[Batch, Outputs], bool]] = {
    "network": lambda batch, outputs: True,
    "attention": lambda batch, outputs: outputs.states.attention is not None,
    "alignment": lambda batch, outputs: (
        outputs.states.attention is not None and batch.alignment is not None
    ),
    "split": lambda batch, outputs: True,
    "attention_split": lambda batch, outputs: outputs.states.attention is not None,
}
"""Whether the metrics of a level apply to a network's outputs on a batch."""

SPLIT_LEVELS = ("split", "attention_split")
SPLIT_DIMENSIONS = ("method", "fit")


def _mean(first: Array, second: Array) -> Array:
    return (first + second) / 2


def _agreed(first: Array, second: Array) -> Array:
    return jnp.where(first == second, first, jnp.nan)


@dataclass(frozen=True)
class Metric:
    """A line of the table: the function, the dimensions of its value, its level, what it is.

    `cross` makes one value of those of the two halves of a crossed fit.
    """

    function: Callable[..., Array]
    level: str
    summary: str
    dimensions: tuple[str, ...] = ()
    cross: Callable[[Array, Array], Array] = _mean


METRICS: dict[str, Metric] = {
    "loss": Metric(accuracy.loss, "network", "cross-entropy of the targets, nats a step"),
    "token_accuracy": Metric(accuracy.token_accuracy, "network", "share of steps right"),
    "sequence_accuracy": Metric(
        accuracy.sequence_accuracy, "network", "share of samples decoded without an error"
    ),
    "mean_attention_kl": Metric(
        attention.mean_attention_kl, "attention", "KL from attention to its mean over samples, nats"
    ),
    "diagonal_mass": Metric(attention.diagonal_mass, "attention", "attention on t = s"),
    "diagonal_mass_1": Metric(attention.diagonal_mass_1, "attention", "attention on |t - s| <= 1"),
    "alignment_error_rate": Metric(
        attention.alignment_error_rate, "alignment", "share of steps that attend a wrong position"
    ),
    "share": Metric(
        term_metrics.share,
        "attention_split",
        "share of each term in the attention scores",
        ("decoder_part", "encoder_part", "kind"),
    ),
    "alignment_kl": Metric(
        term_metrics.alignment_kl,
        "attention_split",
        "KL from attention to attention from a subset of the terms, nats",
        ("subset",),
    ),
    "term_order": Metric(
        term_metrics.term_order,
        "attention_split",
        "terms by decreasing centred share, as 3 x decoder part + encoder part",
        ("rank",),
        _agreed,
    ),
    "temporal_offset": Metric(
        term_metrics.temporal_offset,
        "attention_split",
        "how far ahead of s the temporal parts attend, positions",
    ),
    "word_variance": Metric(
        split_metrics.word_variance,
        "split",
        "share of the variance beside the temporal part that words explain",
        ("side",),
    ),
    "word_occurrences": Metric(
        split_metrics.word_occurrences, "split", "median occurrences of a fitted word", ("side",)
    ),
    "reconstruction_error": Metric(
        split_metrics.reconstruction_error,
        "split",
        "largest relative difference between the sum of the parts and the whole",
        ("whole",),
    ),
}
"""The metrics by name."""

COORDINATES: dict[str, tuple[Any, ...]] = {
    "decoder_part": PARTS,
    "encoder_part": PARTS,
    "kind": KINDS,
    "method": tuple(METHODS),
    "fit": tuple(FITS),
    "side": split_metrics.SIDES,
    "whole": split_metrics.WHOLES,
    "subset": term_metrics.SUBSETS,
    "rank": tuple(range(1, term_metrics.TERMS + 1)),
}
"""The labels along every dimension that a metric can have."""


def dimensions_of(name: str) -> tuple[str, ...]:
    """The dimensions of a metric in what `measure` returns; their labels are in `COORDINATES`.

    Raises:
        InputError: for a metric that is not in the table.
    """
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    metric = METRICS[name]
    return (*(SPLIT_DIMENSIONS if metric.level in SPLIT_LEVELS else ()), *metric.dimensions)


def measure(
    batch: Batch,
    outputs: Outputs,
    methods: tuple[str, ...],
    fits: tuple[str, ...],
    encoder_vocabulary: int,
    decoder_vocabulary: int,
) -> dict[str, Float[Array, "..."]]:
    """Every metric that applies to one network's outputs on a batch, by name.

    Args:
        batch: N samples.
        outputs: what the network made of them.
        methods: ways to fit the split, of `METHODS`; the labels of dimension `method`.
        fits: "in_sample", "cross"; the labels of dimension `fit`. In a crossed fit a metric is the
            mean of its values on the two halves, NaN where one is.
        encoder_vocabulary, decoder_vocabulary: the number of words of either side.

    Returns:
        Arrays with the dimensions that `dimensions_of` names. It can be jitted with all but the
        first two arguments static, and mapped over networks.

    Raises:
        InputError: for an unknown method or fit.
    """
    for field, names, known in (("methods", methods, METHODS), ("fit", fits, FITS)):
        for name in names:
            if name not in known:
                raise unknown(f"analysis.{field}", name, known)
    applied = {name: m for name, m in METRICS.items() if LEVELS[m.level](batch, outputs)}
    whole = {
        name: metric.function(batch, outputs)
        for name, metric in applied.items()
        if metric.level not in SPLIT_LEVELS
    }
    by_split = {name: m for name, m in applied.items() if m.level in SPLIT_LEVELS}
    vocabularies = {"encoder": encoder_vocabulary, "decoder": decoder_vocabulary}
    return whole | _measure_splits(batch, outputs, methods, fits, vocabularies, by_split)


def _measure_splits(
    batch: Batch,
    outputs: Outputs,
    methods: tuple[str, ...],
    fits: tuple[str, ...],
    vocabularies: dict[str, int],
    metrics: dict[str, Metric],
) -> dict[str, Float[Array, "method fit ..."]]:
    """The metrics of every split. One compiled body serves all of them: it runs over a stack of
    the fitted tables and the samples they are looked at on."""
    sides = sides_of(batch, outputs.states)
    of_side = {
        **vocabularies,
        "query": vocabularies["decoder"],
        "key": vocabularies["encoder"],
    }
    first, second = halves(batch)
    pairs = [FITS[fit](first, second) for fit in fits]
    fitted, looked_at = (jnp.stack(masks) for masks in zip(*sum(pairs, ()), strict=True))
    tables = [
        jax.lax.map(lambda samples, m=method: fit_sides(sides, samples, m, of_side), fitted)
        for method in methods
    ]

    def of_split(split) -> dict[str, Array]:
        evaluation = evaluate(sides, outputs.states, *split)
        return {name: metric.function(evaluation) for name, metric in metrics.items()}

    stacked = jax.tree.map(lambda *parts: jnp.concatenate(parts), *tables)
    values = jax.lax.map(of_split, (stacked, jnp.concatenate([looked_at] * len(methods))))

    def by_method_and_fit(name: str) -> Float[Array, "method fit ..."]:
        rows = values[name].reshape(len(methods), len(fitted), *values[name].shape[1:])
        columns, start = [], 0
        for pair in pairs:
            column, start = rows[:, start : start + len(pair)], start + len(pair)
            two = len(pair) == 2
            columns.append(metrics[name].cross(column[:, 0], column[:, 1]) if two else column[:, 0])
        return jnp.stack(columns, axis=1)

    return {name: by_method_and_fit(name) for name in metrics}
