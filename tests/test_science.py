"""The defaults train, and what they learn is what the specification says (minutes; slow)."""

import numpy as np
import pytest

from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import spec_from_document

DOCUMENT = {
    "name": "defaults",
    "sweep": {"seeds": 4},
    "case": [
        {"model": {"architecture": ["aed", "ao"]}},
        {
            "task": {"min_length": 5, "max_length": 8},
            "model": {"architecture": "ved"},
            "train": {"learning_rate_decay": 0.998},
        },
    ],
}


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("science") / "defaults"
    return run_sweep(spec_from_document(DOCUMENT), folder, Silent()).data


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["aed", "ao", "ved"])
def test_every_seed_learns_one_to_one(data, architecture):
    chosen = data.isel(run=data["architecture"].values == architecture)
    assert chosen.sizes["run"] == 4
    assert set(chosen["status"].values) == {"ok"}
    assert (chosen["token_accuracy"].values >= 0.99).all(), chosen["token_accuracy"].values
    assert (chosen["token_accuracy_initial"].values < 0.5).all()


@pytest.mark.slow
def test_aed_attends_by_position(data):
    aed = data.isel(run=data["architecture"].values == "aed")
    assert (aed["diagonal_mass"].values > 0.75).all()
    for method in aed["method"].values:
        place = {"method": method, "fit": "cross", "kind": "centred"}
        share = aed["share"].sel(place).values.reshape(4, 9)
        largest, second = np.sort(share, axis=1)[:, :-3:-1].T
        assert (share.argmax(axis=1) == 0).all()
        assert (largest >= 2 * second).all(), share
