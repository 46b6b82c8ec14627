"""escan, extended SCAN: random phrases in a row, to their actions in the same order.

A target length L is uniform over `min_length`..`max_length`. Then, until L words are written, a
phrase is drawn uniformly from all phrases with at most `max_phrase_actions` actions that have no
more words than are still to be written. There always are such phrases (walk, look, run, jump
have one word), so every input has exactly L words, and every sequence of phrases of a length in
the range can occur. The phrases are the 102 of SCAN's grammar without "and" and "after".

Source: Aitken et al. 2021 (extended SCAN); the rule by which phrases fill the length is ours.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32

from aedjax.tasks.base import Task, TaskConfig
from aedjax.tasks.generated import below, generated_task, length_between
from aedjax.tasks.pairs import NO_SOURCE, Pairs, ended, sentence
from aedjax.tasks.scan_grammar import ACTIONS, PHRASE_WORDS, interpret, phrases
from aedjax.types import FIRST_WORD, SPECIAL_WORDS


class Phrases(NamedTuple):
    """The phrases to draw from, shortest first; row 0 is the empty phrase.

    `owners` are positions within the phrase. `fitting[r]` is how many rows, the empty one counted,
    have at most r words.
    """

    words: Int[np.ndarray, "P W"]
    word_count: Int[np.ndarray, " P"]
    actions: Int[np.ndarray, "P A"]
    owners: Int[np.ndarray, "P A"]
    action_count: Int[np.ndarray, " P"]
    fitting: Int[np.ndarray, " W+1"]


def phrase_table(max_actions: int) -> Phrases:
    """The phrases with at most `max_actions` actions, as word ids of the task's vocabularies."""
    meanings = {phrase: interpret(phrase) for phrase in sorted(phrases(), key=len)}
    few = {p: m for p, m in meanings.items() if m is not None and len(m.actions) <= max_actions}
    words = [[FIRST_WORD + PHRASE_WORDS.index(word) for word in phrase] for phrase in few]
    actions = [[FIRST_WORD + ACTIONS.index(a) for a in meaning.actions] for meaning in few.values()]
    word_count, action_count = _counts(words), _counts(actions)
    return Phrases(
        words=_rows(words),
        word_count=word_count,
        actions=_rows(actions),
        owners=_rows([list(meaning.owners) for meaning in few.values()]),
        action_count=action_count,
        fitting=np.asarray(
            [np.sum(word_count <= reach) for reach in range(word_count.max() + 1)], np.int32
        ),
    )


def _counts(rows: list[list[int]]) -> Int[np.ndarray, " P"]:
    return np.asarray([0, *map(len, rows)], np.int32)


def _rows(rows: list[list[int]]) -> Int[np.ndarray, "P L"]:
    """The rows after an empty one, filled up with zeros that no count reaches."""
    table = np.zeros((len(rows) + 1, max(map(len, rows))), np.int32)
    for line, row in zip(table[1:], rows, strict=True):
        line[: len(row)] = row
    return table


def most_actions(table: Phrases, length: int) -> int:
    """The most actions that an input of `length` words can ask for.

    best(0) = 0, best(l) = max over phrases p with words(p) ≤ l of actions(p) + best(l − words(p)).
    """
    best = [0]
    for total in range(1, length + 1):
        best.append(
            max(
                int(actions) + best[total - words]
                for words, actions in zip(table.word_count, table.action_count, strict=True)
                if 0 < words <= total
            )
        )
    return best[length]


def draw_phrases(
    table: Phrases, length: Int[Array, ""], bits: UInt32[Array, " K"]
) -> Int[Array, " K"]:
    """Rows of the table that together have `length` ≤ K words, then empty phrases."""
    fitting, word_count = jnp.asarray(table.fitting), jnp.asarray(table.word_count)

    def append(left, number):
        first = jnp.minimum(left, 1)
        choices = fitting[jnp.minimum(left, fitting.shape[0] - 1)] - first
        row = first + below(number, choices)
        return left - word_count[row], row

    _, rows = jax.lax.scan(append, length, bits)
    return rows


def places(
    counts: Int[Array, " K"], size: int
) -> tuple[Int[Array, " L"], Int[Array, " L"], Int[Array, ""]]:
    """Which part covers each of `size` positions, where within it, and how many are covered.

    Part k covers the `counts[k]` positions after those of the parts before it.
    """
    ends = jnp.cumsum(counts)
    position = jnp.arange(size, dtype=jnp.int32)
    before = jnp.sum(ends[None, :] <= position[:, None], axis=1, dtype=jnp.int32)
    part = jnp.minimum(before, counts.shape[0] - 1)
    return part, position - (ends - counts)[part], ends[-1]


def escan_law(
    table: Phrases, config: TaskConfig, lengths: tuple[int, int], bits: UInt32[Array, " R"]
) -> Pairs:
    """One input of whole phrases, its actions, and the word each action comes from."""
    length = length_between(bits[0], config)
    rows = draw_phrases(table, length, bits[1:])
    word_counts = jnp.asarray(table.word_count)[rows]
    first_words = jnp.cumsum(word_counts) - word_counts

    part, within, _ = places(word_counts, lengths[0])
    words = jnp.asarray(table.words).at[rows[part], within].get(mode="clip")
    part, within, steps = places(jnp.asarray(table.action_count)[rows], lengths[1])
    actions = jnp.asarray(table.actions).at[rows[part], within].get(mode="clip")
    owners = jnp.asarray(table.owners).at[rows[part], within].get(mode="clip")
    return Pairs(
        sentence(words, length),
        sentence(actions, steps),
        ended(owners + first_words[part], steps, end=length, pad=NO_SOURCE),
    )


def make_escan(config: TaskConfig) -> Task:
    """The task of `config`; decoder_length is exact, `most_actions` and EOS."""
    table = phrase_table(config.max_phrase_actions)
    lengths = (config.max_length + 1, most_actions(table, config.max_length) + 1)
    return generated_task(
        config.name,
        (SPECIAL_WORDS + PHRASE_WORDS, SPECIAL_WORDS + ACTIONS),
        lengths,
        partial(escan_law, table, config, lengths),
        numbers=1 + config.max_length,
    )
