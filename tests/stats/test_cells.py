"""cells: runs that differ in nothing but the seed; a seed never counts twice."""

import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.stats import cells, varying
from tests.stats.synthetic import sweep


def test_unused_settings_do_not_make_cells():
    data = sweep()
    assert set(data["attention"].values) == {"", "dot"}
    assert np.isnan(data["num_words"].values).any()
    assert varying(data) == ("task", "architecture")
    found = cells(data)
    assert [(c.settings["task"], c.settings["architecture"]) for c in found] == [
        (task, architecture)
        for task in ("one_to_one", "escan")
        for architecture in ("ved", "aed", "ao")
    ]
    assert [list(c.runs) for c in found] == [list(range(4 * k, 4 * k + 4)) for k in range(6)]


def test_swept_settings_make_cells():
    data = sweep(architectures=("aed",), learning_rate=[0.001, 0.003], hidden_size=[32, 64])
    assert set(varying(data)) == {"task", "architecture", "learning_rate", "hidden_size"}
    assert len(cells(data)) == 8
    assert {len(cell.runs) for cell in cells(data)} == {4}


def test_a_setting_used_by_some_runs_of_one_task_makes_cells():
    data = sweep(tasks=("scan",), architectures=("aed",), train_path=["", "more.txt"])
    assert varying(data) == ("task", "architecture", "train_path")
    data = sweep(tasks=("scan",), architectures=("aed",), vocabulary_size=[np.nan, 50.0])
    assert varying(data) == ("task", "architecture", "vocabulary_size")
    assert [len(cell.runs) for cell in cells(data)] == [4, 4]


def test_by_may_leave_out_what_the_others_determine():
    data = sweep(tasks=("escan",), architectures=("ved", "aed"))
    size = np.where(data["architecture"] == "ved", 128, 64)
    data = data.assign_coords(hidden_size=("run", size))
    assert varying(data) == ("task", "architecture", "hidden_size")
    assert len(cells(data, ["architecture"])) == 2


@pytest.mark.parametrize(
    ("by", "fragments"),
    [
        (
            ["task", "architecture"],
            ["seed 0 2 times", "task=one_to_one", "what differs there (learning_rate)"],
        ),
        ([], ["seed 0 12 times", "(task, architecture, learning_rate)"]),
        (["task", "learning_rat"], ["by = 'learning_rat'", "did you mean 'learning_rate'"]),
        (["seed"], ["by = 'seed' is unknown"]),
    ],
)
def test_bad_by(by, fragments):
    data = sweep(learning_rate=[0.001, 0.003])
    with pytest.raises(InputError) as caught:
        cells(data, by)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_runs_that_differ_in_nothing_are_named():
    data = sweep(tasks=("escan",), architectures=("aed",), seeds=2)
    data = data.assign_coords(seed=("run", [5, 5]))
    with pytest.raises(InputError, match=r"seed 5 2 times .* keep one of the runs 0 and 1"):
        cells(data)
