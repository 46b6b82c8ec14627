"""escan: what the phrases are, how they fill the length, and how long the output gets."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aedjax.tasks import TaskConfig, make_task
from aedjax.tasks.escan import draw_phrases, most_actions, phrase_table
from aedjax.tasks.scan_grammar import PHRASE_WORDS, interpret, phrases
from aedjax.types import EOS, FIRST_WORD
from tests.tasks.conftest import on_host, spoken
from tests.tasks.reference import meaning

PHRASES = set(phrases())


def parsed(words: list[str]) -> list[list[tuple[int, str]]]:
    """The phrases of an input, each the longest one that starts where the last one ended."""
    found, start = [], 0
    while start < len(words):
        size = max(k for k in (1, 2, 3, 4) if tuple(words[start : start + k]) in PHRASES)
        found.append(list(enumerate(words))[start : start + size])
        start += size
    return found


@pytest.mark.parametrize("max_actions", [1, 4, 24])
def test_samples_are_phrases_with_their_actions_and_owners(max_actions):
    config = TaskConfig(name="escan", min_length=8, max_length=11, max_phrase_actions=max_actions)
    task = make_task(config)
    batch = on_host(task.test(300))
    longest = 0
    for words, targets, alignment in zip(
        batch.encoder_words, batch.targets, batch.alignment, strict=True
    ):
        command = spoken(task.encoder_vocabulary, words)
        steps = [meaning(phrase) for phrase in parsed(command)]
        longest = max(longest, *map(len, steps))
        flat = list(itertools.chain.from_iterable(steps))
        assert spoken(task.decoder_vocabulary, targets) == [action for action, _ in flat]
        owners = [*(owner for _, owner in flat), len(command)]
        expected = np.zeros_like(alignment)
        expected[range(len(owners)), owners] = True
        np.testing.assert_array_equal(alignment, expected)
        assert targets[len(flat)] == EOS
    assert longest == max_actions


@pytest.mark.parametrize(("max_actions", "count"), [(1, 6), (2, 22), (4, 48), (24, 102)])
def test_the_table_holds_the_phrases_with_few_actions(max_actions, count):
    table = phrase_table(max_actions)
    found = {
        tuple(PHRASE_WORDS[i - FIRST_WORD] for i in row[:size])
        for row, size in zip(table.words, table.word_count, strict=True)
    }
    expected = {p for p in phrases() if len(interpret(p).actions) <= max_actions}
    assert len(expected) == count
    assert found == expected | {()}
    assert table.fitting[-1] == count + 1
    assert table.fitting[0] == 1


@pytest.fixture(scope="module")
def drawn():
    """Many draws of phrases that fill six words."""
    table = phrase_table(4)
    bits = jax.random.bits(jax.random.key(3), (20_000, 6), jnp.uint32)
    fill = jax.jit(jax.vmap(lambda row: draw_phrases(table, jnp.int32(6), row)))
    return table, np.asarray(fill(bits))


def test_drawn_phrases_fill_the_length_exactly(drawn):
    table, rows = drawn
    np.testing.assert_array_equal(table.word_count[rows].sum(axis=1), 6)
    empty = rows == 0
    assert np.all(empty[:, 1:] >= empty[:, :-1]), "an empty phrase before another phrase"
    assert empty.any()
    assert not empty[:, 0].any()


def test_a_phrase_is_uniform_over_those_that_fit(drawn):
    table, rows = drawn
    left = 6 - np.cumsum(table.word_count[rows], axis=1)
    for reach, row in [(6, rows[:, 0])] + [(r, rows[:, 1][left[:, 0] == r]) for r in (2, 3, 4, 5)]:
        fitting = np.flatnonzero((table.word_count > 0) & (table.word_count <= reach))
        counts = np.bincount(row, minlength=len(table.word_count))
        assert counts.sum() == counts[fitting].sum()
        mean = counts.sum() / len(fitting)
        chi_square = np.sum((counts[fitting] - mean) ** 2 / mean)
        freedom = len(fitting) - 1
        assert mean > 20
        assert abs(chi_square - freedom) < 4 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("max_actions", [1, 4, 9, 24])
def test_most_actions_equals_trying_every_sequence(max_actions):
    table = phrase_table(max_actions)
    shapes = {(len(p), len(interpret(p).actions)) for p in phrases()}
    shapes = {(words, actions) for words, actions in shapes if actions <= max_actions}
    for length in range(1, 6):
        sequences = itertools.chain.from_iterable(
            itertools.product(shapes, repeat=k) for k in range(1, length + 1)
        )
        best = max(
            sum(actions for _, actions in sequence)
            for sequence in sequences
            if sum(words for words, _ in sequence) == length
        )
        assert most_actions(table, length) == best


def test_the_longest_output_is_reached():
    task = make_task(TaskConfig(name="escan", min_length=2, max_length=4))
    # walk thrice run thrice: three actions for every two words.
    assert task.decoder_length == 6 + 1
    lengths = np.sum(np.asarray(task.sample(jax.random.key(0), 2000).targets) >= FIRST_WORD, axis=1)
    assert lengths.max() == 6


def test_the_papers_lengths():
    task = make_task(TaskConfig(name="escan", min_length=15, max_length=20))
    assert (task.encoder_length, task.decoder_length) == (21, 31)
