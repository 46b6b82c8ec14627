"""Everything that `measure` gives: against the reference, and what must not change it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.analysis import COORDINATES, METRICS, dimensions_of, measure
from aedjax.analysis.evaluation import halves
from aedjax.errors import InputError
from aedjax.types import PAD
from tests.analysis import reference
from tests.analysis.conftest import FITS, METHODS, measured
from tests.analysis.synthetic import VOCABULARY, device, make_batch, make_outputs, without_attention

SEEDS = st.integers(0, 2**32 - 1)


def agreed(name, first, second):
    """One value of two halves'."""
    if name == "term_order":
        return np.where(first == second, first, np.nan)
    return (first + second) / 2


def tied(*splits):
    """The ranks at which rounding decides the order of the terms in one of these splits."""
    ranked = [np.sort(values["share"][..., 1].ravel())[::-1] for values in splits]
    close = np.array([np.abs(np.diff(shares)) < 1e-9 for shares in ranked]).any(0)
    return np.append(close, False) | np.append(False, close)


@given(seed=SEEDS)
@settings(max_examples=12, deadline=None)
def test_every_metric_equals_the_reference(seed, sample):
    batch, outputs = sample(seed)
    found = measured(batch, outputs)
    wanted = reference.network_metrics(batch, outputs)
    first, second = map(np.asarray, halves(device(batch)))
    everyone = first | second
    undecided = []
    for method in METHODS:
        of_method = [
            reference.split_metrics(batch, outputs.states, method, VOCABULARY, *pair)
            for pair in ((everyone, everyone), (first, second), (second, first))
        ]
        for name in of_method[0]:
            whole, *two = (values[name] for values in of_method)
            both = np.stack([whole, agreed(name, *two)])
            wanted.setdefault(name, []).append(both)
        undecided.append([tied(*of_method[:1]), tied(*of_method[1:])])
    errors = found.pop("reconstruction_error")
    assert errors.shape == (2, 2, 3)
    assert (errors < 1e-12).all()
    del wanted["reconstruction_error"]
    assert set(found) == set(wanted)
    for order in (found, wanted):
        order["term_order"] = np.where(undecided, np.nan, order["term_order"])
    for name, values in found.items():
        np.testing.assert_allclose(values, np.asarray(wanted[name]), atol=1e-8, err_msg=name)


def test_single_precision_is_close_to_double(sample):
    batch, outputs = sample(0)
    double, single = measured(batch, outputs), measured(batch, outputs, np.float32)
    assert (single["reconstruction_error"] < 1e-5).all()
    for name, values in double.items():
        np.testing.assert_allclose(single[name], values, atol=1e-4, err_msg=name)


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_the_order_of_the_samples_changes_nothing(seed, sample):
    batch, outputs = sample(seed % 5)
    order = np.random.default_rng(seed).permutation(len(batch.targets))
    shuffled = jax.tree.map(lambda leaf: leaf[order], (batch, outputs))
    assert_same(measured(batch, outputs), measured(*shuffled))


@given(seed=SEEDS)
@settings(max_examples=3, deadline=None)
def test_extra_padding_changes_nothing(seed, sample):
    batch, outputs = sample(seed)
    assert_same(measured(batch, outputs), measured(*padded(batch, outputs, 2, 3)))


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_what_is_computed_at_padding_is_never_read(seed, sample):
    batch, outputs = sample(seed)
    assert_same(measured(batch, outputs), measured(batch, garbled(batch, outputs)))


def garbled(batch, outputs):
    """The same outputs, but NaN wherever a position is padded."""
    steps, positions = (batch.targets != PAD)[:, :, None], (batch.encoder_words != PAD)[:, :, None]
    valid = dict.fromkeys(("decoder", "query", "context"), steps)
    valid |= dict.fromkeys(("encoder", "key", "value"), positions)
    valid |= dict.fromkeys(("scores", "attention"), steps & positions.swapaxes(1, 2))
    states = type(outputs.states)(
        **{
            name: np.where(valid[name], leaf, np.nan)
            for name, leaf in outputs.states._asdict().items()
        }
    )
    return outputs._replace(logits=np.where(steps, outputs.logits, np.nan), states=states)


def padded(batch, outputs, positions, steps):
    """So many more encoder and decoder positions, all padding, and NaN there in every array."""

    def more(array, axes, fill):
        if array is None:
            return None
        width = [(0, axes.get(axis, 0)) for axis in range(array.ndim)]
        return np.pad(array, width, constant_values=fill)

    batch = batch._replace(
        encoder_words=more(batch.encoder_words, {1: positions}, PAD),
        decoder_words=more(batch.decoder_words, {1: steps}, PAD),
        targets=more(batch.targets, {1: steps}, PAD),
        alignment=more(batch.alignment, {1: steps, 2: positions}, True),
    )
    axes = {name: {1: steps} for name in ("decoder", "query", "context")}
    axes |= {name: {1: positions} for name in ("encoder", "key", "value")}
    axes |= {name: {1: steps, 2: positions} for name in ("scores", "attention")}
    states = type(outputs.states)(
        **{name: more(getattr(outputs.states, name), where, np.nan) for name, where in axes.items()}
    )
    return batch, outputs._replace(logits=more(outputs.logits, {1: steps}, np.nan), states=states)


def assert_same(one, other):
    """All metrics equal but for rounding."""
    assert set(one) == set(other)
    for name, values in one.items():
        np.testing.assert_allclose(values, other[name], atol=1e-10, err_msg=name)


def test_mapping_over_members_equals_a_loop(sample):
    batch, _ = sample(0)
    members = [make_outputs(np.random.default_rng(k), batch) for k in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[device(one) for one in members])

    def one(outputs):
        return measure(device(batch), outputs, METHODS, FITS, VOCABULARY, VOCABULARY)

    together = jax.jit(jax.vmap(one))(stacked)
    for k, outputs in enumerate(members):
        alone = measured(batch, outputs, np.float32)
        assert set(together) == set(alone)
        for name, values in alone.items():
            np.testing.assert_allclose(together[name][k], values, atol=2e-5, err_msg=name)


def shapes_of(batch, outputs, methods=METHODS, fits=FITS):
    """The shape of every metric, without computing any."""
    arguments = device((batch, outputs))
    return {
        name: values.shape
        for name, values in jax.eval_shape(
            lambda *these: measure(*these, methods, fits, VOCABULARY, VOCABULARY), *arguments
        ).items()
    }


def test_shapes_are_what_dimensions_and_coordinates_say(sample):
    shapes = shapes_of(*sample(0))
    assert set(shapes) == set(METRICS)
    for name, shape in shapes.items():
        assert shape == tuple(len(COORDINATES[d]) for d in dimensions_of(name)), name


@pytest.mark.parametrize("methods", [("joint",), ("joint", "sequential")])
@pytest.mark.parametrize("fits", [("cross",), ("cross", "in_sample")])
def test_methods_and_fits_come_in_the_order_asked_for(methods, fits, sample):
    shape = shapes_of(*sample(0), methods, fits)["share"]
    assert shape == (len(methods), len(fits), 3, 3, 3)


def test_values_follow_the_order_of_methods_and_fits(sample):
    batch, outputs = sample(0)
    arguments = device((batch, without_attention(outputs)))
    swapped = jax.jit(
        lambda *these: measure(*these, METHODS[::-1], FITS[::-1], VOCABULARY, VOCABULARY)
    )(*arguments)
    found = measured(batch, outputs, np.float32)["word_variance"]
    np.testing.assert_allclose(swapped["word_variance"], found[::-1, ::-1], atol=1e-5)
    assert len(np.unique(found.round(4))) == found.size


def test_without_attention_its_metrics_are_absent(sample):
    batch, outputs = sample(0)
    found = measured(batch, without_attention(outputs))
    whole = measured(batch, outputs)
    kept = {"loss", "token_accuracy", "sequence_accuracy"}
    kept |= {"word_variance", "word_occurrences", "reconstruction_error"}
    assert set(found) == kept
    assert np.isnan(found["reconstruction_error"][..., 2]).all()
    for name in kept - {"reconstruction_error"}:
        np.testing.assert_allclose(found[name], whole[name], atol=1e-12)


def test_without_a_true_alignment_its_metric_is_absent(sample):
    batch, outputs = sample(0)
    shapes = shapes_of(batch._replace(alignment=None), outputs)
    assert set(METRICS) - set(shapes) == {"alignment_error_rate"}


def test_one_sample_of_one_word_can_be_measured():
    rng = np.random.default_rng(0)
    batch = make_batch(rng, samples=1, positions=1, steps=1)
    found = measured(batch, make_outputs(rng, batch, learned=True), np.float32)
    assert np.isfinite(found["loss"])
    assert np.isnan(found["share"]).all()
    np.testing.assert_allclose(found["diagonal_mass"], 1)
    np.testing.assert_allclose(found["mean_attention_kl"], 0, atol=1e-6)


def test_one_sample_has_no_other_half_and_is_explained_by_its_positions(sample):
    batch, outputs = sample(0)
    longest = (batch.targets != PAD).sum(1) * (batch.encoder_words != PAD).sum(1)
    batch, outputs = jax.tree.map(lambda leaf: leaf[longest.argmax()][None], (batch, outputs))
    found = measured(batch, outputs)
    for name, wanted in reference.network_metrics(batch, outputs).items():
        np.testing.assert_allclose(found[name], wanted, atol=1e-10, err_msg=name)
    sequential, joint = found["share"][:, 0, :, :, 0]
    np.testing.assert_allclose(sequential, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(joint.sum(), 1)
    for name in ("share", "alignment_kl", "word_variance", "word_occurrences"):
        assert np.isnan(found[name][:, 1]).all(), name
        assert name == "word_variance" or np.isfinite(found[name][:, 0]).all(), name


@pytest.mark.parametrize(
    ("methods", "fits", "message"),
    [
        (("joint", "both"), ("cross",), "analysis.methods = 'both' is unknown"),
        (("joint",), ("corss",), "did you mean 'cross'"),
    ],
)
def test_unknown_methods_and_fits_are_named(methods, fits, message, sample):
    with pytest.raises(InputError, match=message):
        shapes_of(*sample(0), methods, fits)


def test_an_unknown_metric_is_named_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'share'"):
        dimensions_of("shares")


def test_the_table_is_complete():
    for name, metric in METRICS.items():
        assert metric.summary, name
        assert metric.function.__doc__, name
        assert set(dimensions_of(name)) <= set(COORDINATES), name
