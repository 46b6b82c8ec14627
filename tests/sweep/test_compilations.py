"""However many members a group has, it compiles once: JAX's own events say so."""

import jax
import pytest

from aedjax.sweep.reporter import Silent
from aedjax.sweep.run import run_sweep
from aedjax.sweep.spec import spec_from_document

EVENT = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def compilations():
    """A list that grows by one with every program that JAX compiles or takes from its cache."""
    found = []

    def listen(event, duration, **_):
        if event == EVENT:
            found.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield found
    jax.monitoring.unregister_event_duration_listener(listen)


def sweep(folder, seeds, rates, hidden_size=4):
    """Run a sweep of one group in units of width 4, and return the number of its units."""
    document = {
        "name": "compilations",
        "task": {"min_length": 3, "max_length": 3},
        "model": {"architecture": "ao", "hidden_size": hidden_size},
        "train": {"steps": 4, "batch_size": 4, "learning_rate": rates},
        "analysis": {"samples": 8, "every": 2, "methods": "sequential", "fit": "in_sample"},
        "sweep": {"seeds": seeds},
    }
    run_sweep(spec_from_document(document), folder, Silent(), width=4)
    return len(list(folder.glob("units/*/*.npz")))


def test_a_group_compiles_once_for_all_of_its_units_and_remainders(tmp_path, compilations):
    assert sweep(tmp_path / "warm", 4, [0.001]) == 1
    compilations.clear()
    assert sweep(tmp_path / "small", 4, [0.001]) == 1
    small = len(compilations)
    compilations.clear()
    # 33 members: eight units of four, and one of which three places are filled up.
    assert sweep(tmp_path / "large", 11, [0.001, 0.002, 0.003]) == 9
    assert len(compilations) == small
    compilations.clear()
    assert sweep(tmp_path / "two", 4, [0.001], [4, 8]) == 2
    assert small < len(compilations) <= 3 * small


def test_a_group_compiles_four_programs(tmp_path, compilations):
    sweep(tmp_path / "warm", 4, [0.001])
    compilations.clear()
    sweep(tmp_path / "again", 4, [0.001])
    # Test samples, initialisation, training and analysis; what makes keys is compiled once for all.
    assert len(compilations) == 4
