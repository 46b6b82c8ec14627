"""Files in SCAN's format: what is read, and what is refused with its place."""

import gzip
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aedjax.errors import InputError
from aedjax.tasks.scan_files import read_commands
from aedjax.tasks.scan_grammar import Command

FIELD = "task.train_path"
GOOD = b"IN: jump left OUT: I_TURN_LEFT I_JUMP\n"


@pytest.fixture
def written(tmp_path):
    """Write a file and give its path."""

    def write(content: bytes, name: str = "commands.txt") -> str:
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


JUMP_LEFT = Command(("jump", "left"), ("I_TURN_LEFT", "I_JUMP"))


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.rstrip(),
        GOOD.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + GOOD,
        b"\n" + GOOD + b"\n  \n",
        gzip.compress(GOOD, mtime=0),
        b"IN: jump  left  OUT: I_TURN_LEFT I_JUMP ",
    ],
)
def test_ways_of_writing_one_command(written, content):
    assert read_commands(FIELD, written(content)) == [JUMP_LEFT]


def test_order_and_repeats_are_kept(written):
    other = b"IN: a OUT: b\n"
    commands = read_commands(FIELD, written(GOOD + other + GOOD))
    assert commands == [JUMP_LEFT, Command(("a",), ("b",)), JUMP_LEFT]


def test_text_is_brought_to_nfc(written):
    (command,) = read_commands(FIELD, written("IN: cafe\u0301 OUT: e\u0301".encode()))
    assert command == Command(("caf\u00e9",), ("\u00e9",))


def test_lines_end_at_line_feeds_only(written):
    (command,) = read_commands(FIELD, written("IN: a\u2028b c\x0bd OUT: e\u0085".encode()))
    assert command == Command(("a\u2028b", "c\x0bd"), ("e\u0085",))


WORDS = st.lists(
    st.text(st.characters(categories=["L", "N", "S"]), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
).filter(lambda words: not any(word.startswith("<") for word in words))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_what_was_written_is_read(commands):
    text = "".join(f"IN: {' '.join(words)} OUT: {' '.join(acts)}\n" for words, acts in commands)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "commands.txt.gz"
        path.write_bytes(gzip.compress(text.encode()))
        found = read_commands(FIELD, str(path))
    composed = [[[unicodedata.normalize("NFC", w) for w in side] for side in c] for c in commands]
    assert [[list(command.words), list(command.actions)] for command in found] == composed


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (GOOD * 2 + b"jump left\n", ["line 3", "'jump left'", "write 'IN: "]),
        (GOOD + b"\nIN: jump I_JUMP\n", ["line 3"]),
        (b"IN: jump OUT: I_JUMP OUT: I_JUMP\n", ["line 1"]),
        (b"IN:  OUT: I_JUMP\n", ["line 1"]),
        (b"IN: jump OUT:\n", ["line 1"]),
        (b"IN: jump OUT: \n", ["line 1"]),
        (b"OUT: I_JUMP IN: jump\n", ["line 1"]),
        (GOOD + b"IN: jump <eos> OUT: I_JUMP\n", ["line 2", "'<eos>' is reserved"]),
        (b"", ["holds no command"]),
        (b"\n \n", ["holds no command"]),
        (gzip.compress(b"", mtime=0), ["holds no command"]),
        (GOOD + b"IN: caf\xe9 OUT: I_JUMP\n", ["line 2", f"byte {len(GOOD) + 7} is not UTF-8"]),
        (b"\xff\xfeI\x00N\x00", ["line 1", "byte 0 is not UTF-8"]),
        (gzip.compress(GOOD * 50, mtime=0)[:-12], ["damaged gzip"]),
        (b"\x1f\x8bnot gzip at all", ["damaged gzip"]),
    ],
)
def test_a_broken_file_is_refused_with_its_place(written, content, fragments):
    path = written(content)
    with pytest.raises(InputError) as caught:
        read_commands(FIELD, path)
    line = str(caught.value)
    assert line.startswith(f"{FIELD} = {path!r}")
    assert "\n" not in line
    for fragment in fragments:
        assert fragment in line


def test_a_folder_and_an_impossible_path_are_refused(tmp_path):
    for path in (str(tmp_path), f"{tmp_path}/a\0b"):
        with pytest.raises(InputError, match=r"task\.train_path = .* cannot be read"):
            read_commands(FIELD, path)
