"""What holds for every task of the table, and what is refused."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.tasks import TASKS, TaskConfig, check_task, make_task
from aedjax.types import BOS, EOS, FIRST_WORD, PAD, SPECIAL_WORDS, UNK
from tests.tasks.conftest import SAMPLES, on_host, small, spoken

SCAN_IMAGE = {
    "walk": "I_WALK",
    "look": "I_LOOK",
    "run": "I_RUN",
    "jump": "I_JUMP",
    "left": "I_TURN_LEFT",
    "right": "I_TURN_RIGHT",
}
IMAGES = {
    "one_to_one": str.upper,
    "reverse": str.upper,
    "sort": str.upper,
    "scan": SCAN_IMAGE.get,
    "escan": SCAN_IMAGE.get,
}
"""What an aligned input word says in the output."""

WITH_LENGTHS = [name for name, entry in TASKS.items() if "min_length" in entry.uses]


def assert_same(left, right):
    jax.tree.map(np.testing.assert_array_equal, left, right)


def test_vocabularies_begin_with_the_special_words_and_name_every_id_once(task):
    for vocabulary in (task.encoder_vocabulary, task.decoder_vocabulary):
        assert vocabulary[:FIRST_WORD] == SPECIAL_WORDS
        assert len(set(vocabulary)) == len(vocabulary) > FIRST_WORD


def test_shapes_and_types_are_those_the_task_states(task, batch):
    t, s = task.encoder_length, task.decoder_length
    assert batch.encoder_words.shape == (SAMPLES, t)
    assert batch.decoder_words.shape == batch.targets.shape == (SAMPLES, s)
    for words in (batch.encoder_words, batch.decoder_words, batch.targets):
        assert words.dtype == np.int32
    assert (batch.alignment is not None) == task.has_alignment
    if task.has_alignment:
        assert batch.alignment.shape == (SAMPLES, s, t)
        assert batch.alignment.dtype == bool


def test_sentences_are_words_then_one_eos_then_padding(task, batch):
    sides = (
        (batch.encoder_words, task.encoder_vocabulary),
        (batch.targets, task.decoder_vocabulary),
    )
    for words, vocabulary in sides:
        assert np.all(np.sum(words == EOS, axis=1) == 1)
        end = np.argmax(words == EOS, axis=1)[:, None]
        place = np.arange(words.shape[1])[None, :]
        assert np.all(words[place > end] == PAD)
        inside = words[place < end]
        assert inside.min() >= FIRST_WORD
        assert inside.max() < len(vocabulary)
        assert end.min() >= 1


def test_the_decoder_reads_bos_and_then_the_targets_but_the_last(batch):
    for read, target in zip(batch.decoder_words, batch.targets, strict=True):
        steps = np.sum(target != PAD)
        np.testing.assert_array_equal(read[:steps], [BOS, *target[: steps - 1]])
        assert np.all(read[steps:] == PAD)


def test_every_word_occurs_and_none_is_unknown(task, batch):
    for words, vocabulary in (
        (batch.encoder_words, task.encoder_vocabulary),
        (batch.targets, task.decoder_vocabulary),
    ):
        assert set(np.unique(words)) == {PAD, EOS, *range(FIRST_WORD, len(vocabulary))}


@pytest.mark.parametrize("name", WITH_LENGTHS)
def test_input_lengths_fill_their_range_uniformly(name):
    config = small(name)
    batch = make_task(config).sample(jax.random.key(1), SAMPLES)
    lengths = np.sum(np.asarray(batch.encoder_words) >= FIRST_WORD, axis=1)
    values, counts = np.unique(lengths, return_counts=True)
    assert list(values) == list(range(config.min_length, config.max_length + 1))
    share = 1 / len(values)
    deviation = np.sqrt(SAMPLES * share * (1 - share))
    assert np.all(np.abs(counts - SAMPLES * share) < 4 * deviation)


@pytest.mark.parametrize("name", WITH_LENGTHS)
def test_one_length_is_a_range_too(name):
    only = make_task(replace(small(name), min_length=1, max_length=1))
    words = np.asarray(only.sample(jax.random.key(0), 8).encoder_words)
    assert words.shape == (8, 2)
    assert np.all(words[:, 1] == EOS)


def test_alignment_stays_within_valid_positions_and_joins_eos_to_eos(task, batch):
    if not task.has_alignment:
        pytest.skip("the task knows no alignment")
    valid = (batch.targets != PAD)[:, :, None] & (batch.encoder_words != PAD)[:, None, :]
    assert not np.any(batch.alignment & ~valid)
    both_end = (batch.targets == EOS)[:, :, None] & (batch.encoder_words == EOS)[:, None, :]
    either_end = (batch.targets == EOS)[:, :, None] | (batch.encoder_words == EOS)[:, None, :]
    np.testing.assert_array_equal(batch.alignment & either_end, both_end)


def test_every_target_is_the_image_of_the_word_it_is_aligned_to(task, batch):
    if task.name not in IMAGES:
        pytest.skip("the task's words have no fixed image")
    image = [IMAGES[task.name](word) for word in task.encoder_vocabulary]
    np.testing.assert_array_equal(batch.alignment.sum(axis=2), batch.targets != PAD)
    n, s, t = np.nonzero(batch.alignment & (batch.targets >= FIRST_WORD)[:, :, None])
    said = [task.decoder_vocabulary[i] for i in batch.targets[n, s]]
    assert said == [image[i] for i in batch.encoder_words[n, t]]
    assert len(said) == np.sum(batch.targets >= FIRST_WORD)


def test_one_key_gives_one_batch_and_another_key_another(task, batch):
    assert_same(batch, on_host(task.sample(jax.random.key(0), SAMPLES)))
    other = on_host(task.sample(jax.random.key(1), SAMPLES))
    assert np.mean(np.any(batch.encoder_words != other.encoder_words, axis=1)) > 0.9
    distinct = {row.tobytes() for row in batch.encoder_words}
    assert len(distinct) > SAMPLES / 4, "samples of one batch repeat each other"


def test_compiled_and_mapped_draws_equal_plain_ones(task):
    keys = jax.random.split(jax.random.key(2), 2)
    with jax.disable_jit():
        plain = [task.draw(task.data, key, 3) for key in keys]
    compiled = jax.jit(task.draw, static_argnums=2)
    mapped = jax.vmap(lambda key, data: task.draw(data, key, 3), in_axes=(0, None))(keys, task.data)
    for i, key in enumerate(keys):
        assert_same(plain[i], compiled(task.data, key, 3))
        assert_same(plain[i], jax.tree.map(lambda leaf, i=i: leaf[i], mapped))


def test_the_test_set_is_fixed_and_a_shorter_one_is_its_beginning(task):
    first = on_host(task.test(64))
    again = on_host(make_task(small(task.name)).test(24))
    assert_same(jax.tree.map(lambda leaf: leaf[:24], first), again)
    assert first.encoder_words.shape == (64, task.encoder_length)
    assert len({row.tobytes() for row in first.encoder_words}) > 32


@pytest.mark.parametrize("name", ["sort", "escan"])
def test_double_precision_changes_no_sample(name, x64):
    wide = make_task(small(name))
    wide_batch, wide_test = on_host(wide.sample(jax.random.key(0), 16)), on_host(wide.test(16))
    assert wide_batch.targets.dtype == wide_batch.decoder_words.dtype == np.int32
    with jax.enable_x64(False):
        narrow = make_task(small(name))
        assert_same(wide_batch, on_host(narrow.sample(jax.random.key(0), 16)))
        assert_same(wide_test, on_host(narrow.test(16)))


def test_a_task_depends_on_the_fields_it_names_and_on_no_other(task):
    other = TaskConfig(
        name=task.name, num_words=5, min_length=2, max_length=6, max_phrase_actions=2
    )
    unused = {"num_words", "min_length", "max_length", "max_phrase_actions"} - set(
        TASKS[task.name].uses
    )
    changed = replace(small(task.name), **{field: getattr(other, field) for field in unused})
    assert_same(on_host(task.test(16)), on_host(make_task(changed).test(16)))
    for field in set(TASKS[task.name].uses) - {"split", "train_path", "test_path"}:
        one = make_task(replace(small(task.name), **{field: getattr(other, field)}))
        shape, words = one.test(64).targets.shape, np.asarray(one.test(64).targets)
        first = np.asarray(task.test(64).targets)
        assert shape != first.shape or np.any(words != first), field


BAD = {
    "unknown name": ({"name": "escna"}, ["task.name = 'escna'", "did you mean 'escan'"]),
    "no words": ({"num_words": 0}, ["task.num_words = 0", "at least 1"]),
    "length zero": ({"min_length": 0}, ["task.min_length = 0", "at least 1"]),
    "crossed": (
        {"min_length": 9, "max_length": 5},
        ["task.min_length = 9", "task.max_length = 5", "lower"],
    ),
    "crossed in escan": (
        {"name": "escan", "min_length": 20},
        ["min_length = 20", "max_length = 15"],
    ),
    "no actions": ({"name": "escan", "max_phrase_actions": 0}, ["max_phrase_actions = 0"]),
    "unknown split": (
        {"name": "scan", "split": "lenght"},
        ["task.split = 'lenght'", "did you mean 'length'"],
    ),
    "train alone": (
        {"name": "scan", "train_path": "a.txt"},
        ["task.train_path = 'a.txt'", "task.test"],
    ),
    "test alone": (
        {"name": "scan", "test_path": "b.txt"},
        ["task.test_path = 'b.txt'", "task.train"],
    ),
    "split and files": (
        {"name": "scan", "split": "length", "train_path": "a.txt", "test_path": "b.txt"},
        ["task.split = 'length'", "task.train_path", "drop"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_fields_are_refused_in_one_line(case):
    fields, fragments = BAD[case]
    for function in (check_task, make_task):
        with pytest.raises(InputError) as caught:
            function(TaskConfig(**fields))
        line = str(caught.value)
        assert "\n" not in line
        for fragment in fragments:
            assert fragment in line


def test_lengths_that_a_task_does_not_use_may_cross():
    check_task(TaskConfig(name="scan", min_length=9, max_length=5))


def test_samples_read_as_they_should():
    task = make_task(TaskConfig(name="reverse", num_words=30, min_length=2, max_length=2))
    batch = on_host(task.test(5))
    for words, targets in zip(batch.encoder_words, batch.targets, strict=True):
        first, second = spoken(task.encoder_vocabulary, words)
        assert spoken(task.decoder_vocabulary, targets) == [second.upper(), first.upper()]
    assert UNK not in batch.encoder_words


def test_a_missing_file_is_named_when_the_task_is_made_and_no_sooner():
    config = TaskConfig(name="scan", train_path="no/such.txt", test_path="no/such.txt")
    check_task(config)
    with pytest.raises(InputError, match=r"task\.train_path = 'no/such.txt' cannot be read"):
        make_task(config)
