# make quickstart: train three architectures and look at their attention.
# make test: the tests that run in minutes. make test-slow: the others. make check: style and types.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN := runs/quickstart

.PHONY: quickstart test test-slow check clean

quickstart: $(VENV)/.installed
	$(BIN)/aedjax sweep sweeps/quickstart.toml --out $(RUN)

test: $(VENV)/.developer
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test-slow: $(VENV)/.developer
	$(BIN)/python -m pytest -m slow

check: $(VENV)/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.developer: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) runs build *.egg-info
