"""Axes: how many points, in which order, and draws that depend on their number alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.errors import InputError
from aedjax.sweep.axes import DISTRIBUTIONS, checked_axis, draw, expand
from aedjax.sweep.sections import SweepConfig

FIELDS = ("task.num_words", "model.hidden_size", "train.steps", "train.learning_rate")
LOG = {"log_uniform": [0.001, 0.1]}


def points(axes: dict, **sweep) -> list[dict]:
    return list(expand(axes, SweepConfig(**sweep)))


def rows(axes: dict, **sweep) -> list[tuple]:
    return [tuple(point.values()) for point in points(axes, **sweep)]


axes_of_any_length = st.dictionaries(
    st.sampled_from(FIELDS),
    st.one_of(st.integers(1, 9), st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True)),
)


@given(axes_of_any_length)
def test_grid_is_every_combination_once(axes):
    found = rows(axes)
    lists = [value for value in axes.values() if isinstance(value, list)]
    assert len(found) == len(set(found)) == math.prod(map(len, lists))
    for point in points(axes):
        for field, value in axes.items():
            assert point[field] == value or point[field] in value


@given(axes_of_any_length, st.integers(1, 6))
def test_random_crosses_lists_with_draws(axes, samples):
    found = rows({**axes, "train.clip_norm": LOG}, combine="random", samples=samples)
    lists = [value for value in axes.values() if isinstance(value, list)]
    assert len(found) == len(set(found)) == samples * math.prod(map(len, lists))
    assert len({row[-1] for row in found}) == samples


@given(st.integers(1, 5), st.sets(st.sampled_from(FIELDS), min_size=1), st.randoms())
def test_zip_pairs_lists_by_place(length, names, random):
    axes = {name: [random.randrange(9) for _ in range(length)] for name in sorted(names)}
    assert rows(axes, combine="zip") == list(zip(*axes.values(), strict=True))


def test_grid_varies_the_first_axis_slowest():
    axes = {"task.num_words": [3, 2], "model.cell": "gru", "train.steps": [5, 9]}
    assert rows(axes) == [(3, "gru", 5), (3, "gru", 9), (2, "gru", 5), (2, "gru", 9)]


@pytest.mark.parametrize("combine", ["grid", "zip"])
def test_without_axes_there_is_one_point(combine):
    assert points({"train.steps": 5}, combine=combine) == [{"train.steps": 5}]


@given(st.integers(1, 20), st.integers(1, 20))
def test_more_samples_keep_the_earlier_draws(few, more):
    axes = {"model.hidden_size": {"uniform": [1, 10**6]}, "train.learning_rate": LOG}
    few, more = sorted((few, more))
    first = rows(axes, combine="random", samples=few)
    assert rows(axes, combine="random", samples=more)[:few] == first


def test_a_draw_depends_on_root_seed_field_and_number_alone():
    alone = rows({"train.learning_rate": LOG}, combine="random", samples=5)
    other = {"model.cell": ["gru", "lstm"], "train.learning_rate": LOG, "train.clip_norm": LOG}
    beside = points(other, combine="random", samples=5)
    assert [(point["train.learning_rate"],) for point in beside[::2]] == alone
    assert all(point["train.learning_rate"] != point["train.clip_norm"] for point in beside)
    reseeded = rows({"train.learning_rate": LOG}, combine="random", samples=5, root_seed=1)
    assert not set(reseeded) & set(alone)


SAMPLES = 4000
EXPECTED = {
    "log_uniform": (LOG, lambda x: math.log(x / 0.001) / math.log(100)),
    "uniform": ({"uniform": [-2.0, 6.0]}, lambda x: (x + 2) / 8),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_float_draws_follow_their_distribution(name):
    """Kolmogorov-Smirnov distance to the distribution function, at the 0.001 level."""
    distribution, cumulative = EXPECTED[name]
    drawn = sorted(draw(distribution, "train.x", number, 0) for number in range(SAMPLES))
    steps = np.arange(SAMPLES + 1) / SAMPLES
    expected = np.array([cumulative(value) for value in drawn])
    distance = max(np.max(steps[1:] - expected), np.max(expected - steps[:-1]))
    assert distance < 1.95 / math.sqrt(SAMPLES)
    assert all(float(f"{value:.6g}") == value for value in drawn)


COUNTED = {
    "uniform": ({"uniform": [3, 6]}, dict.fromkeys(range(3, 7), 1 / 4)),
    "log_uniform": (
        {"log_uniform": [1, 4]},
        {k: math.log((k + 1) / k) / math.log(5) for k in range(1, 5)},
    ),
    "choice": ({"choice": ["a", "b", "c"]}, dict.fromkeys("abc", 1 / 3)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_whole_numbers_and_choices_have_their_chances(name):
    distribution, chances = COUNTED[name]
    drawn = [draw(distribution, "train.x", number, 0) for number in range(SAMPLES)]
    assert set(drawn) == set(chances)
    for value, chance in chances.items():
        assert abs(drawn.count(value) / SAMPLES - chance) < 4 * math.sqrt(chance / SAMPLES)


@given(st.floats(0, 1, exclude_max=True), st.sampled_from(["uniform", "log_uniform"]), st.data())
@settings(max_examples=300)
def test_draws_stay_in_their_range(u, name, data):
    number = data.draw(st.sampled_from([st.integers(1, 10**6), st.floats(1e-300, 1e300)]))
    low, high = sorted(data.draw(st.tuples(number, number)))
    drawn = DISTRIBUTIONS[name](u, low, high)
    assert low <= drawn <= high
    assert type(drawn) is type(low)


def test_axis_values_take_the_type_of_their_field():
    assert checked_axis("train", "train", "learning_rate", [1, 0.5]) == [1.0, 0.5]
    drawn = checked_axis("train", "train", "learning_rate", {"uniform": [1, 2]})
    assert drawn == {"uniform": [1.0, 2.0]}
    assert isinstance(drawn["uniform"][0], float)
    whole = checked_axis("model", "model", "hidden_size", {"log_uniform": [8, 64]})
    assert isinstance(draw(whole, "model.hidden_size", 0, 0), int)


@pytest.mark.parametrize(
    ("axes", "sweep", "fragments"),
    [
        (
            {"task.num_words": [1, 2], "train.steps": [1, 2, 3]},
            {"combine": "zip"},
            ["task.num_words has 2", "train.steps has 3", "one length"],
        ),
        ({"train.steps": [3, 5, 3]}, {}, ["train.steps", "repeats 3", "remove"]),
        ({"train.clip_norm": LOG}, {}, ["train.clip_norm", "'grid'", "'random'"]),
        ({"train.clip_norm": LOG}, {"combine": "zip"}, ["train.clip_norm", "'zip'", "'random'"]),
        ({"train.clip_norm": LOG}, {"combine": "random"}, ["sweep.samples is not set"]),
        ({"train.steps": [3]}, {"combine": "random", "samples": 2}, ["nothing to draw"]),
        (
            {"model.cell": {"choice": ["gru", "lstm"]}},
            {"combine": "random", "samples": 3},
            ["sweep.samples = 3", "draws", "are both model.cell", "fewer samples"],
        ),
        (
            {"train.steps": list(range(4000)), "train.batch_size": list(range(1, 4001))},
            {},
            ["the sweep asks for 64,000,000 runs", "at most 10,000,000"],
        ),
    ],
)
def test_axes_that_do_not_combine(axes, sweep, fragments):
    with pytest.raises(InputError) as caught:
        points(axes, **sweep)
    assert "\n" not in str(caught.value)
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("section", "key", "value", "fragments"),
    [
        ("train", "steps", [], ["train.steps = []", "empty axis"]),
        ("train", "steps", [1, "two"], ["train.steps = 'two'", "a string", "a whole number"]),
        ("train", "steps", [[1, 2]], ["train.steps = [1, 2]", "a list", "a whole number"]),
        ("train", "clip_norm", {"log_unifrom": [1, 2]}, ["'log_unifrom'", "'log_uniform'"]),
        ("train", "clip_norm", {}, ["no distribution", "choice"]),
        ("train", "clip_norm", {"uniform": [1, 2], "choice": [1]}, ["no distribution"]),
        ("train", "clip_norm", {"uniform": 3}, ["has no values", "{uniform = [...]}"]),
        ("train", "clip_norm", {"choice": []}, ["has no values", "{choice = [...]}"]),
        ("train", "clip_norm", {"uniform": [1, 2, 3]}, ["no range", "[smallest, largest]"]),
        ("model", "cell", {"uniform": ["gru", "lstm"]}, ["no range"]),
        ("train", "clip_norm", {"uniform": [2, 1]}, ["train.clip_norm", "wrong order"]),
        ("train", "clip_norm", {"log_uniform": [2, 1]}, ["train.clip_norm", "wrong order"]),
        ("train", "weight_decay", {"log_uniform": [0, 1]}, ["weight_decay", "above 0"]),
        ("train", "learning_rate", {"uniform": [-1, 1]}, ["train.learning_rate = -1", "more than"]),
        ("train", "learning_rate_decay", {"uniform": [0.5, 2]}, ["= 2", "too large", "at most"]),
        ("model", "hidden_size", {"uniform": [1.5, 4]}, ["model.hidden_size = 1.5", "a whole"]),
        ("model", "cell", {"choice": ["gru", "gur"]}, ["model.cell = 'gur'", "'gru'"]),
    ],
)
def test_values_that_no_axis_can_have(section, key, value, fragments):
    with pytest.raises(InputError) as caught:
        checked_axis(section, section, key, value)
    for fragment in fragments:
        assert fragment in str(caught.value)
