"""SCAN's grammar: every command, what it means, and which word each action comes from.

    C -> S | S and S | S after S
    S -> V | V twice | V thrice
    V -> u | x D | x opposite D | x around D        with x in {u, turn}
    u -> walk | look | run | jump                   D -> left | right

[x D] = [D][x], [x opposite D] = [D][D][x], [x around D] = four times [D][x], [turn] is empty,
[v twice] = [v][v], [v thrice] = [v][v][v], [a and b] = [a][b], [a after b] = [b][a].

Source: Lake and Baroni, "Generalization without Systematicity", ICML 2018.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

PRIMITIVES = {"walk": "I_WALK", "look": "I_LOOK", "run": "I_RUN", "jump": "I_JUMP"}
DIRECTIONS = {"left": "I_TURN_LEFT", "right": "I_TURN_RIGHT"}
TURN = "turn"
MANNERS = {"opposite": (2, 1), "around": (1, 4)}
"""How often the direction is taken before the verb's own action, and how often both are done."""
REPEATS = {"twice": 2, "thrice": 3}
CONNECTIVES = ("and", "after")

PHRASE_WORDS = tuple(sorted([*PRIMITIVES, *DIRECTIONS, TURN, *MANNERS, *REPEATS]))
ACTIONS = tuple(sorted([*PRIMITIVES.values(), *DIRECTIONS.values()]))


class Command(NamedTuple):
    """A command and its actions, word by word."""

    words: tuple[str, ...]
    actions: tuple[str, ...]


class Meaning(NamedTuple):
    """Actions, and for each the position in the command of the word whose own meaning it is.

    Only primitives and directions own actions; turn, manners, repeats and connectives own none.
    """

    actions: tuple[str, ...]
    owners: tuple[int, ...]


def interpret(words: Sequence[str]) -> Meaning | None:
    """What a command means, or None where the words are no command.

    >>> interpret("walk left after jump".split())
    Meaning(actions=('I_JUMP', 'I_TURN_LEFT', 'I_WALK'), owners=(3, 1, 0))
    """
    cut = next((i for i, word in enumerate(words) if word in CONNECTIVES), None)
    if cut is None:
        steps = _phrase(words, 0)
    else:
        first, second = _phrase(words[:cut], 0), _phrase(words[cut + 1 :], cut + 1)
        if words[cut] == "after":
            first, second = second, first
        steps = first + second if first and second else []
    if not steps:
        return None
    return Meaning(tuple(action for action, _ in steps), tuple(owner for _, owner in steps))


def _phrase(words: Sequence[str], start: int) -> list[tuple[str, int]]:
    """The (action, owner) steps of one phrase that begins at `start`; empty for no phrase."""
    repeat = REPEATS.get(words[-1], 1) if words else 1
    return _verb(words[:-1] if repeat > 1 else words, start) * repeat


def _verb(words: Sequence[str], start: int) -> list[tuple[str, int]]:
    match words:
        case [verb]:
            return [(PRIMITIVES[verb], start)] if verb in PRIMITIVES else []
        case [verb, direction]:
            turns, rounds = 1, 1
        case [verb, manner, direction] if manner in MANNERS:
            turns, rounds = MANNERS[manner]
        case _:
            return []
    if direction not in DIRECTIONS or (verb not in PRIMITIVES and verb != TURN):
        return []
    turn = (DIRECTIONS[direction], start + len(words) - 1)
    act = [] if verb == TURN else [(PRIMITIVES[verb], start)]
    return ([turn] * turns + act) * rounds


def phrases() -> list[tuple[str, ...]]:
    """The 102 phrases S, shorter rules first."""
    alone: list[tuple[str, ...]] = [(primitive,) for primitive in PRIMITIVES]
    directed = [
        (verb, *manner, direction)
        for manner in ((), *((manner,) for manner in MANNERS))
        for verb in (*PRIMITIVES, TURN)
        for direction in DIRECTIONS
    ]
    repeats = ((), *((repeat,) for repeat in REPEATS))
    return [verb + repeat for repeat, verb in itertools.product(repeats, alone + directed)]


@functools.cache
def generate() -> tuple[Command, ...]:
    """All 20,910 commands with their actions, in the grammar's order."""
    parts = phrases()
    joined = (
        (*first, connective, *second)
        for connective, first, second in itertools.product(CONNECTIVES, parts, parts)
    )
    return tuple(meant(words) for words in itertools.chain(parts, joined))


def meant(words: tuple[str, ...]) -> Command:
    """The command of these words, which must be one."""
    meaning = interpret(words)
    assert meaning is not None, words
    return Command(words, meaning.actions)
