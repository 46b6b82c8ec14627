"""The document of a sweep: what a TOML file says, checked, with every default written out.

A document is JSON-able: `name`, one table for each of `SECTIONS`, and `case`, a list of partial
tables laid over the rest. Two files that say the same have equal documents.
"""

import copy
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aedjax.errors import InputError, shown, unknown
from aedjax.sweep.axes import checked_axis
from aedjax.sweep.paths import check_text
from aedjax.sweep.sections import (
    AXIS_SECTIONS,
    SECTIONS,
    check_key,
    checked_setting,
    defaults,
)

Document = dict[str, Any]

NAME = re.compile(r"\w([\w. +-]*[\w+-])?")
LONGEST_NAME = 200
"""Bytes of a name: a folder's may have 255, and a temporary name beside it a few more."""


def read_toml(path: str | Path) -> Document:
    """The tables of a TOML file as they stand; `name` is the file's stem unless given.

    Raises:
        InputError: if the file is missing, unreadable, not UTF-8 or not TOML.
    """
    check_text("spec", str(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"spec = {str(path)!r} cannot be read ({error.strerror}); give a TOML file"
        ) from None
    try:
        # A byte-order mark at the start is what some editors write before UTF-8.
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"spec = {str(path)!r} is not UTF-8 (line {line}, byte {error.start}); save it as UTF-8"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"spec = {str(path)!r} is not TOML: {_complaint(error)}; mend it there"
        ) from None
    return {"name": Path(path).stem, **tables}


def _complaint(error: Exception) -> str:
    """What is wrong with a TOML text: the parser's words, or ours for what it leaves to Python."""
    if isinstance(error, RecursionError):
        return "its brackets are nested too deeply"
    if not isinstance(error, tomllib.TOMLDecodeError):
        return "a whole number has thousands of digits"
    return str(error)


def normalised(document: Mapping[str, Any]) -> Document:
    """The document in full: every section and key in order, every value in its canonical form.

    Raises:
        InputError: on an unknown section or key, or a value that a key does not accept.
    """
    known = ("name", *SECTIONS, "case")
    for section in document:
        if section not in known:
            raise _unknown_section(section, known)
    cases = document.get("case", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InputError("case is not a list of tables; write each as [[case]]")
    base = {
        section: defaults(section) | _checked_section(section, section, document.get(section, {}))
        for section in SECTIONS
    }
    return {
        "name": document.get("name", ""),
        **base,
        "case": [_checked_case(number, case) for number, case in enumerate(cases, 1)],
    }


def _unknown_section(section: str, known: Sequence[str]) -> InputError:
    for home, config in SECTIONS.items():
        if section in config.__dataclass_fields__:  # type: ignore[attr-defined]
            return InputError(f"section = {section!r} is unknown; it is a key of [{home}]")
    return unknown("section", section, known)


def _checked_section(where: str, section: str, content: Any) -> Document:
    """The given keys of a section in their canonical form, in the section's order."""
    if not isinstance(content, dict):
        raise InputError(
            f"{where} = {shown(content)} is not a section; write [{section}] and its keys"
        )
    checked = {}
    for key, value in content.items():
        check_key(where, section, key)
        check = checked_axis if section in AXIS_SECTIONS else checked_setting
        checked[key] = check(where, section, key, value)
    return {key: checked[key] for key in defaults(section) if key in checked}


def _checked_case(number: int, case: Mapping[str, Any]) -> Document:
    for section in case:
        if section == "name":
            raise InputError(f"case {number}: name belongs to the whole sweep; move it to the top")
        if section not in SECTIONS:
            raise unknown(f"case {number}: section", section, SECTIONS)
    checked = {
        section: _checked_section(f"case {number}: {section}", section, case[section])
        for section in SECTIONS
        if section in case
    }
    if "root_seed" in checked.get("sweep", {}):
        raise InputError(
            f"case {number}: sweep.root_seed belongs to the whole sweep; move it to [sweep]"
        )
    return checked


def overridden(document: Document, overrides: Sequence[str]) -> Document:
    """A normalised document with settings "section.key=value" put in place, in every case too.

    A value is TOML, or a bare word, which is read as a string.

    Raises:
        InputError: on a malformed setting, an unknown key or a value that it does not accept.
    """
    document = copy.deepcopy(document)
    for override in overrides:
        field, equals, text = override.partition("=")
        section, dot, key = field.strip().partition(".")
        if not equals or bool(dot) == (section == "name") or not text.strip():
            raise InputError(f"set = {shown(override)} is malformed; write section.key=value")
        value = _override_value(override, text.strip())
        if section == "name":
            document["name"] = value
            continue
        if section not in SECTIONS:
            raise unknown("section", section, SECTIONS)
        document[section] |= _checked_section(section, section, {key: value})
        for case in document["case"]:
            case.get(section, {}).pop(key, None)
    return document


def _override_value(override: str, text: str) -> Any:
    try:
        tables = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError) as error:
        if not isinstance(error, tomllib.TOMLDecodeError):
            raise InputError(
                f"set = {shown(override)} is malformed: {_complaint(error)}; write another value"
            ) from None
        if any(mark in text for mark in "[]{}\"'\n"):
            raise InputError(
                f"set = {shown(override)} is malformed; write the value as TOML, strings in a list "
                "quoted"
            ) from None
        return text
    if list(tables) != ["value"]:
        raise InputError(f"set = {shown(override)} is malformed; write one section.key=value")
    return tables["value"]


def layers(document: Document) -> list[Document]:
    """The sections of each case laid over the rest; without cases the rest alone."""
    return [
        {section: document[section] | case.get(section, {}) for section in SECTIONS}
        for case in document["case"] or [{}]
    ]


def check_name(name: Any) -> None:
    """Raise InputError for a sweep's name that is empty or unfit for a folder."""
    if not isinstance(name, str) or not name:
        raise InputError(f"name = {shown(name)} is no name; give the sweep a short one")
    if not NAME.fullmatch(name) or len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"name = {shown(name)} is unfit for a folder; use at most {LONGEST_NAME} letters, "
            "digits, '-', '_' and '.'"
        )
