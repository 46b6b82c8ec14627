"""SCAN's grammar against the published commands and a second interpreter."""

import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aedjax.tasks.scan_grammar import CONNECTIVES, PHRASE_WORDS, generate, interpret, phrases
from tests.tasks.conftest import SHARED_SCAN
from tests.tasks.reference import meaning

CHECKSUM = "345bff3c25864652"
"""Of the published tasks.txt, its lines sorted."""


def lines(commands) -> list[str]:
    """Commands as sorted lines of SCAN's format."""
    return sorted(f"IN: {' '.join(c.words)} OUT: {' '.join(c.actions)}" for c in commands)


def checksum(commands) -> str:
    return hashlib.sha256("\n".join(lines(commands)).encode()).hexdigest()[:16]


def test_count_and_checksum_of_all_commands():
    assert len(generate()) == len(set(generate())) == 20_910
    assert checksum(generate()) == CHECKSUM


def test_the_generated_set_is_the_published_one():
    path = SHARED_SCAN / "tasks.txt"
    if not path.exists():
        pytest.skip("the published commands are not here; count and checksum stand in")
    assert lines(generate()) == sorted(path.read_text(encoding="utf-8").splitlines())


def test_phrases_have_the_known_numbers_of_actions():
    parts = phrases()
    actions = Counter(len(interpret(phrase).actions) for phrase in parts)
    known = {1: 6, 2: 16, 3: 14, 4: 12, 6: 18, 8: 10, 9: 8, 12: 2, 16: 8, 24: 8}
    assert actions == known
    assert len(set(parts)) == 102
    assert {len(phrase) for phrase in parts} == {1, 2, 3, 4}
    assert {word for phrase in parts for word in phrase} == set(PHRASE_WORDS)


def test_meaning_and_owners_agree_with_the_reference_on_every_command():
    for command in generate():
        expected = meaning(list(enumerate(command.words)))
        found = interpret(command.words)
        assert list(zip(found.actions, found.owners, strict=True)) == expected


@pytest.mark.parametrize(
    ("command", "actions", "owners"),
    [
        ("jump", "I_JUMP", (0,)),
        ("turn left", "I_TURN_LEFT", (1,)),
        ("walk opposite right", "I_TURN_RIGHT I_TURN_RIGHT I_WALK", (2, 2, 0)),
        ("turn around left", " ".join(["I_TURN_LEFT"] * 4), (2, 2, 2, 2)),
        (
            "run left twice after look",
            "I_LOOK I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN",
            (4, 1, 0, 1, 0),
        ),
    ],
)
def test_meanings_known_by_thought(command, actions, owners):
    assert interpret(command.split()) == (tuple(actions.split()), owners)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "turn",
        "left",
        "twice",
        "turn twice",
        "walk walk",
        "walk twice twice",
        "walk left opposite",
        "walk opposite",
        "walk opposite around left",
        "and walk",
        "walk after",
        "walk and run and look",
        "walk after run and look",
        "fly",
        "fly left",
    ],
)
def test_what_is_no_command_means_nothing(words):
    assert interpret(words.split()) is None


@given(st.lists(st.sampled_from([*PHRASE_WORDS, *CONNECTIVES]), max_size=6))
def test_just_the_generated_commands_mean_something(words):
    assert (interpret(words) is not None) == (tuple(words) in COMMANDS)


COMMANDS = {command.words for command in generate()}


def test_every_string_of_up_to_three_words_is_told_right():
    alphabet = [*PHRASE_WORDS, *CONNECTIVES]
    for length in (1, 2, 3):
        for words in itertools.product(alphabet, repeat=length):
            assert (interpret(words) is not None) == (words in COMMANDS)
