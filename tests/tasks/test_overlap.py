"""How much of the test set the training draws hold."""

import jax
import pytest

from aedjax.tasks import TaskConfig, make_task, train_test_overlap

KEY = jax.random.key(0)


def test_a_task_with_few_inputs_is_seen_whole_and_one_with_many_never():
    few = make_task(TaskConfig(num_words=2, min_length=1, max_length=3))
    assert train_test_overlap(few, KEY, 2000) == 1.0
    many = make_task(TaskConfig(num_words=100, min_length=10, max_length=10))
    assert train_test_overlap(many, KEY, 2000) == 0.0


def test_the_share_is_the_chance_of_having_been_drawn():
    # 3⁶ = 729 equally likely inputs; after 729 draws one is seen with 1 − (1 − 1/729)^729.
    task = make_task(TaskConfig(num_words=3, min_length=6, max_length=6))
    assert train_test_overlap(task, KEY, 729) == pytest.approx(0.632, abs=0.05)


@pytest.mark.parametrize("split", ["simple", "length"])
def test_generated_scan_splits_do_not_overlap(split):
    task = make_task(TaskConfig(name="scan", split=split))
    assert train_test_overlap(task, KEY, 1) == 0.0


def test_files_are_compared_whole(tmp_path):
    lines = [f"IN: w{i} OUT: a{i}\n" for i in range(8)]
    (tmp_path / "train.txt").write_text("".join(lines[:6]), encoding="utf-8")
    (tmp_path / "test.txt").write_text("".join(lines[4:]), encoding="utf-8")
    paths = {f"{part}_path": str(tmp_path / f"{part}.txt") for part in ("train", "test")}
    assert train_test_overlap(make_task(TaskConfig(name="scan", **paths)), KEY, 1) == 0.5
