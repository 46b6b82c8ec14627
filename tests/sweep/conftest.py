"""A small sweep, run once: two architectures, two learning rates, two seeds, one of them wild."""

import pytest

from aedjax.sweep.identity import canonical_json
from aedjax.sweep.plan import group_identity
from aedjax.sweep.programs import compile_group
from aedjax.sweep.record import read_record
from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import spec_from_document

DOCUMENT = {
    "name": "small",
    "task": {"min_length": 3, "max_length": 5},
    "model": {"architecture": ["aed", "ved"], "hidden_size": 8},
    "train": {"steps": 6, "batch_size": 8, "learning_rate": [0.003, 1e30]},
    "analysis": {"samples": 16, "every": 4},
    "sweep": {"seeds": 2},
}


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The record, the folder and the data of the small sweep."""
    folder = tmp_path_factory.mktemp("sweeps") / "small"
    data = run_sweep(spec_from_document(DOCUMENT), folder, Silent()).data
    return read_record(folder), folder, data


@pytest.fixture(scope="session")
def compile_once():
    """`compile_group`, which keeps the programs of every group and width while the tests run."""
    programs = {}

    def compiled(member, task, width, report):
        key = canonical_json(group_identity(member)), width
        if key not in programs:
            programs[key] = compile_group(member, task, width, report)
        return programs[key]

    return compiled
