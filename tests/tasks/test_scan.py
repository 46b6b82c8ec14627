"""scan as a task: vocabularies, draws, unknown words, alignment of files."""

import gzip

import jax
import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.tasks import TaskConfig, check_task, make_task
from aedjax.tasks.scan_grammar import interpret
from aedjax.tasks.scan_splits import SPLITS, shuffled
from aedjax.types import EOS, FIRST_WORD, PAD, UNK
from tests.tasks.conftest import SHARED_SCAN, on_host, spoken


@pytest.fixture(scope="module")
def jump():
    return make_task(TaskConfig(name="scan", split="addprim_jump"))


@pytest.fixture
def files(tmp_path):
    """A scan task from two texts."""

    def build(train: str, test: str):
        for name, text in (("train.txt", train), ("test.txt", test)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        paths = {f"{name}_path": str(tmp_path / f"{name}.txt") for name in ("train", "test")}
        return make_task(TaskConfig(name="scan", **paths))

    return build


@pytest.mark.parametrize("split", SPLITS)
def test_sizes_of_every_split(split):
    task = make_task(TaskConfig(name="scan", split=split))
    train, test = SPLITS[split]()
    assert (len(task.encoder_vocabulary), len(task.decoder_vocabulary)) == (17, 10)
    assert (task.encoder_length, task.decoder_length) == (10, 49)
    assert task.data.targets.shape == (len(train), 49)
    assert len(task.test(10**6).targets) == len(test)
    assert task.has_alignment


def test_the_test_set_is_the_shuffled_split(jump):
    batch = on_host(jump.test(10**6))
    expected = shuffled(SPLITS["addprim_jump"]().test)
    for words, targets, command in zip(batch.encoder_words, batch.targets, expected, strict=True):
        assert tuple(spoken(jump.encoder_vocabulary, words)) == command.words
        assert tuple(spoken(jump.decoder_vocabulary, targets)) == command.actions


def test_the_alignment_is_the_owner_of_each_action(jump):
    batch = on_host(jump.test(200))
    for words, alignment in zip(batch.encoder_words, batch.alignment, strict=True):
        command = spoken(jump.encoder_vocabulary, words)
        owners = [*interpret(command).owners, len(command)]
        expected = np.zeros_like(alignment)
        expected[range(len(owners)), owners] = True
        np.testing.assert_array_equal(alignment, expected)


def test_the_first_test_samples_are_representative(jump):
    lengths = np.sum(np.asarray(jump.test(10**6).targets) != PAD, axis=1)
    standard_error = lengths.std() / np.sqrt(512)
    assert abs(lengths[:512].mean() - lengths.mean()) < 4 * standard_error


def test_training_lines_are_drawn_uniformly_repeats_counted(jump):
    words = np.asarray(jump.sample(jax.random.key(0), 5000).encoder_words)
    alone = words[:, 0] == jump.encoder_vocabulary.index("jump")
    share = 1467 / 14_670
    assert np.all(words[alone, 1] == EOS)
    assert abs(alone.mean() - share) < 4 * np.sqrt(share * (1 - share) / 5000)


def test_every_training_line_can_be_drawn(files):
    text = "".join(f"IN: w{i} OUT: a{i}\n" for i in range(10))
    task = files(text, text)
    drawn = np.asarray(task.sample(jax.random.key(0), 400).encoder_words)[:, 0]
    assert set(drawn) == set(range(FIRST_WORD, FIRST_WORD + 10))


def test_unknown_test_words_become_unk_on_both_sides(files):
    task = files("IN: b a OUT: Y X\n", "IN: a new b OUT: X fresh Z\n")
    assert task.encoder_vocabulary[FIRST_WORD:] == ("a", "b")
    assert task.decoder_vocabulary[FIRST_WORD:] == ("X", "Y")
    batch = on_host(task.test(9))
    np.testing.assert_array_equal(batch.encoder_words, [[4, UNK, 5, EOS]])
    np.testing.assert_array_equal(batch.targets, [[4, UNK, UNK, EOS]])
    assert batch.alignment is None
    assert not task.has_alignment
    train = on_host(task.sample(jax.random.key(0), 2))
    np.testing.assert_array_equal(train.targets, [[5, 4, EOS, PAD]] * 2)


def test_a_files_own_unk_is_the_unknown_word(files):
    task = files("IN: a <unk> OUT: X\n", "IN: a OUT: X\n")
    assert task.encoder_vocabulary[FIRST_WORD:] == ("a",)
    np.testing.assert_array_equal(task.sample(jax.random.key(0), 1).encoder_words, [[4, UNK, EOS]])


@pytest.mark.parametrize(
    ("train", "test", "aligned"),
    [
        ("IN: jump twice OUT: I_JUMP I_JUMP\n", "IN: jump OUT: I_JUMP\n", True),
        ("IN: jump twice OUT: I_JUMP\n", "IN: jump OUT: I_JUMP\n", False),
        ("IN: jump OUT: I_JUMP\n", "IN: leap OUT: I_JUMP\n", False),
        ("IN: jump jump OUT: I_JUMP I_JUMP\n", "IN: jump OUT: I_JUMP\n", False),
    ],
)
def test_a_file_is_aligned_where_every_line_is_scan(files, train, test, aligned):
    task = files(train, test)
    assert task.has_alignment is aligned
    for batch in (task.test(1), task.sample(jax.random.key(0), 1)):
        assert (batch.alignment is not None) is aligned
    if aligned:
        alignment = np.asarray(task.sample(jax.random.key(0), 1).alignment[0])
        np.testing.assert_array_equal(alignment, [[1, 0, 0], [1, 0, 0], [0, 0, 1]])


def test_the_published_files_give_the_generated_task():
    if not SHARED_SCAN.exists():
        pytest.skip("the published splits are not here")
    paths = {
        f"{part}_path": str(SHARED_SCAN / f"tasks_{part}_length.txt.gz")
        for part in ("train", "test")
    }
    task = make_task(TaskConfig(name="scan", **paths))
    generated = make_task(TaskConfig(name="scan", split="length"))
    assert task.encoder_vocabulary == generated.encoder_vocabulary
    assert task.decoder_vocabulary == generated.decoder_vocabulary
    jax.tree.map(np.testing.assert_array_equal, task.test(10**6), generated.test(10**6))
    rows = [{row.tobytes() for row in np.asarray(t.data.encoder_words)} for t in (task, generated)]
    assert rows[0] == rows[1]


def test_checking_reads_no_file_but_making_does(tmp_path):
    good, bad = tmp_path / "train.txt.gz", tmp_path / "test.txt"
    good.write_bytes(gzip.compress(b"IN: a OUT: b\n"))
    bad.write_text("IN: a OUT: b\nIN a OUT b\n", encoding="utf-8")
    config = TaskConfig(name="scan", train_path=str(good), test_path=str(bad))
    check_task(config)
    with pytest.raises(InputError, match=r"task\.test_path = .*, line 2: 'IN a OUT b' is broken"):
        make_task(config)
