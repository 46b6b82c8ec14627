"""scan: commands to actions, from SCAN's grammar or from files in its format."""

from collections.abc import Iterable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aedjax.errors import InputError, unknown
from aedjax.tasks.base import Task, TaskConfig
from aedjax.tasks.pairs import NO_SOURCE, Pairs, as_batch
from aedjax.tasks.scan_files import read_commands
from aedjax.tasks.scan_grammar import Command, interpret
from aedjax.tasks.scan_splits import SPLITS, Split, shuffled
from aedjax.types import EOS, PAD, SPECIAL_WORDS, UNK, Batch


def check_scan(config: TaskConfig) -> None:
    """Raise InputError for an unknown split, one path without the other, or a split with paths.

    Files are looked at by `make_scan` alone: results can be read where the files are gone.
    """
    if config.split not in SPLITS:
        raise unknown("task.split", config.split, SPLITS)
    paths = {"task.train_path": config.train_path, "task.test_path": config.test_path}
    given = [field for field, path in paths.items() if path]
    if len(given) == 1:
        (other,) = paths.keys() - given
        raise InputError(f"{given[0]} = {paths[given[0]]!r} stands alone; give {other} too")
    if given and config.split != TaskConfig.split:
        raise InputError(
            f"task.split = {config.split!r} is not used with task.train_path; drop one of them"
        )


def make_scan(config: TaskConfig) -> Task:
    """SCAN by the split of `config`, or by its files where it names them.

    Vocabularies are the words of the training commands in sorted order; any other word of the
    test commands is `UNK`. A training draw picks lines uniformly, so a repeated line counts as
    often as it is there. The test set is in the order of `shuffled`. There is an alignment where
    every line is a command of SCAN's grammar with its own actions.
    """
    split = _split(config)
    everything = set(split.train + split.test)
    vocabularies = (
        _vocabulary(command.words for command in split.train),
        _vocabulary(command.actions for command in split.train),
    )
    lengths = (
        max(len(command.words) for command in everything) + 1,
        max(len(command.actions) for command in everything) + 1,
    )
    found = {command: _owners(command) for command in everything}
    owners = {command: positions for command, positions in found.items() if positions is not None}
    if len(owners) < len(everything):
        owners = {}
    train = _encoded(split.train, vocabularies, lengths, owners)
    test = _encoded(shuffled(split.test), vocabularies, lengths, owners)
    return Task(
        name=config.name,
        encoder_vocabulary=vocabularies[0],
        decoder_vocabulary=vocabularies[1],
        encoder_length=lengths[0],
        decoder_length=lengths[1],
        has_alignment=bool(owners),
        data=jax.tree.map(jnp.asarray, train),
        draw=_draw,
        test=lambda n: as_batch(jax.tree.map(lambda rows: rows[:n], test)),
    )


@partial(jax.jit, static_argnums=2)
def _draw(data: Pairs, key: Key[Array, ""], n: int) -> Batch:
    line = jax.random.randint(key, (n,), 0, data.targets.shape[0], dtype=jnp.int32)
    return as_batch(jax.tree.map(lambda rows: rows[line], data))


def _split(config: TaskConfig) -> Split:
    if not config.train_path:
        return SPLITS[config.split]()
    return Split(
        read_commands("task.train_path", config.train_path),
        read_commands("task.test_path", config.test_path),
    )


def _vocabulary(sentences: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The special words, then all others of the sentences in code-point order."""
    words = {word for sentence in sentences for word in sentence}
    return (*SPECIAL_WORDS, *sorted(words.difference(SPECIAL_WORDS)))


def _owners(command: Command) -> tuple[int, ...] | None:
    """The source of every action, or None where the command does not mean its actions."""
    meaning = interpret(command.words)
    return meaning.owners if meaning and meaning.actions == command.actions else None


def _encoded(
    commands: Sequence[Command],
    vocabularies: tuple[tuple[str, ...], tuple[str, ...]],
    lengths: tuple[int, int],
    owners: dict[Command, tuple[int, ...]],
) -> Pairs:
    """The commands as stacked host arrays, with sources where there are `owners`."""
    encoder, decoder = ({word: i for i, word in enumerate(words)} for words in vocabularies)
    words = [[*(encoder.get(word, UNK) for word in command.words), EOS] for command in commands]
    targets = [[*(decoder.get(word, UNK) for word in command.actions), EOS] for command in commands]
    sources = [[*owners[command], len(command.words)] for command in commands] if owners else None
    return Pairs(
        _padded(words, lengths[0], PAD),
        _padded(targets, lengths[1], PAD),
        None if sources is None else _padded(sources, lengths[1], NO_SOURCE),
    )


def _padded(rows: list[list[int]], length: int, value: int) -> Int[np.ndarray, "N L"]:
    table = np.full((len(rows), length), value, np.int32)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table
