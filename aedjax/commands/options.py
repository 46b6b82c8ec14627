"""What several commands share: kinds of options, and printing for people or for programs."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import tyro

from aedjax.errors import InputError

Folder = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
"""The folder of a sweep."""

Repeated = Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="KEY=VALUE")]
"""An option that may be given several times."""

Settings = Annotated[
    tuple[str, ...],
    tyro.conf.UseAppendAction,
    tyro.conf.arg(name="set", metavar="SECTION.KEY=VALUE"),
]
"""Settings of a spec to replace."""


def show(as_json: bool, content: Any, people: Callable[[], None]) -> None:
    """Print `content` as JSON, or let `people` print it."""
    if as_json:
        print(json.dumps(content, allow_nan=False, ensure_ascii=False))
    else:
        people()


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The keys and values of an option given as KEY=VALUE.

    Raises:
        InputError: for a text without "=".
    """
    for text in texts:
        if "=" not in text:
            raise InputError(f"{option} = {text!r} has no '='; write it as KEY=VALUE")
    return dict(text.split("=", 1) for text in texts)
