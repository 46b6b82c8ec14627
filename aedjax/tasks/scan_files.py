"""Files in SCAN's format: a line a command, `IN: <words> OUT: <actions>`, plain or gzipped."""

import gzip
import unicodedata
import zlib
from pathlib import Path

from aedjax.errors import InputError
from aedjax.tasks.scan_grammar import Command
from aedjax.types import SPECIAL_WORDS

GZIP = b"\x1f\x8b"
"""The first bytes of every gzip file."""
RESERVED = frozenset(SPECIAL_WORDS) - {"<unk>"}


def read_commands(field: str, path: str) -> list[Command]:
    """The commands of a file in its order. Blank lines and a byte-order mark are passed over.

    Raises:
        InputError: naming `field` and the line (from 1) or byte (from 0), for a file that cannot
            be read, is cut short, is not UTF-8, has a broken line, or holds no command.
    """
    label = f"{field} = {path!r}"
    text = _decoded(label, _content(label, path))
    commands = [
        _command(f"{label}, line {number}", line.removesuffix("\r"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not commands:
        raise InputError(f"{label} holds no command; write at least one 'IN: ... OUT: ...' line")
    return commands


def _content(label: str, path: str) -> bytes:
    try:
        content = Path(path).read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{label} is a damaged gzip file ({error}); write it anew") from None
    except OSError as error:
        raise InputError(f"{label} cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:
        # A NUL character, which no path may have.
        raise InputError(f"{label} cannot be read ({error}); check the path") from None


def _decoded(label: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{label}, line {line}, byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from None
    return unicodedata.normalize("NFC", text.removeprefix("\ufeff"))


def _command(label: str, line: str) -> Command:
    words, mark, actions = line.removeprefix("IN: ").partition(" OUT: ")
    command = Command(*(tuple(filter(None, side.split(" "))) for side in (words, actions)))
    whole = line.startswith("IN: ") and mark and " OUT: " not in actions
    if not (whole and command.words and command.actions):
        raise InputError(f"{label}: {line[:60]!r} is broken; write 'IN: <words> OUT: <actions>'")
    reserved = RESERVED.intersection(command.words + command.actions)
    if reserved:
        raise InputError(f"{label}: the word {min(reserved)!r} is reserved; write another word")
    return command
