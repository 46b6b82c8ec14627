"""The direction of imports: a module may use only what stands before it in the list."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "aedjax"

LEAVES = {"errors", "fields", "losses", "types", "version"}
ALLOWED = {
    **{leaf: set() for leaf in LEAVES},
    "fields": {"errors"},
    "tasks": LEAVES,
    "models": LEAVES,
    "analysis": LEAVES,
    "training": LEAVES | {"models"},
    "sweep": LEAVES | {"tasks", "models", "training", "analysis"},
    "stats": LEAVES,
    "figures": LEAVES | {"analysis", "sweep", "stats"},
    "progress": LEAVES | {"sweep"},
}
FREE = {"__init__", "__main__", "cli", "commands"}
"""The package's face and its programs, which stand above everything."""


def imports(path: Path) -> set[str]:
    """The parts of aedjax that a file imports, relative imports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "aedjax." * bool(node.level) + (node.module or "")
            names = [f"{base}.{alias.name}" if base == "aedjax" else base for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("aedjax.")}
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_go_one_way(path):
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if part in FREE:
        return
    outside = imports(path) - ALLOWED[part] - {part}
    assert not outside, f"{part} must not import {sorted(outside)}"


@pytest.mark.parametrize("part", ["tasks", "models", "analysis"])
def test_only_named_modules_read_or_write_files(part):
    readers = {"scan_files.py"}
    for path in (PACKAGE / part).glob("*.py"):
        calls = {
            getattr(node.func, "attr", getattr(node.func, "id", ""))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        }
        if path.name not in readers:
            assert not calls & {"open", "read_text", "read_bytes", "write_text", "write_bytes"}, (
                path
            )
