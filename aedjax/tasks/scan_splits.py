"""The published splits of SCAN, from their rules, and a simple one of our own.

Source: Lake and Baroni, "Generalization without Systematicity", ICML 2018, and its data.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from aedjax.tasks.scan_grammar import Command, generate

SIMPLE_TRAIN = 16_728
"""Commands of the simple split's training set; the other 4,182 are its test set."""
LONGEST_TRAINED = 22
"""Actions of the longest training command of the length split."""


class Split(NamedTuple):
    """Training and test commands; a command may be repeated in training."""

    train: list[Command]
    test: list[Command]


def shuffled(commands: Iterable[Command]) -> list[Command]:
    """The commands in the order of hashes of their text, which depends on nothing else.

    A repeated command gets another hash each time, so that repeats spread out as well.
    """
    seen: Counter[Command] = Counter()
    keyed = []
    for command in commands:
        line = f"{seen[command]}\t{' '.join(command.words)}\t{' '.join(command.actions)}"
        keyed.append((hashlib.sha256(line.encode()).digest(), command))
        seen[command] += 1
    return [command for _, command in sorted(keyed)]


def simple() -> Split:
    """A random split of the size of the published one."""
    order = shuffled(generate())
    return Split(order[:SIMPLE_TRAIN], order[SIMPLE_TRAIN:])


def by_length() -> Split:
    """Training on at most 22 actions, test on the 24 to 48 of all others."""
    short = [command for command in generate() if len(command.actions) <= LONGEST_TRAINED]
    long = [command for command in generate() if len(command.actions) > LONGEST_TRAINED]
    return Split(short, long)


def add_primitive(primitive: tuple[str, ...], repeats: int) -> Split:
    """Training on the commands without `primitive`, and on it alone, `repeats` times.

    The test set is every longer command that holds it.
    """
    phrase = f" {' '.join(primitive)} "
    train: list[Command] = []
    alone: list[Command] = []
    test: list[Command] = []
    for command in generate():
        line = f" {' '.join(command.words)} "
        (train if phrase not in line else alone if phrase == line else test).append(command)
    return Split(train + alone * repeats, test)


SPLITS: dict[str, Callable[[], Split]] = {
    "simple": simple,
    "length": by_length,
    "addprim_jump": partial(add_primitive, ("jump",), 1_467),
    "addprim_turn_left": partial(add_primitive, ("turn", "left"), 2_189),
}
