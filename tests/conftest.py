"""Strict settings for every test, and a compilation cache shared by all of them."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

import jax
import pytest

CACHE = Path(os.environ.get("AEDJAX_TEST_CACHE", Path(tempfile.gettempdir()) / "aedjax-test-cache"))
jax.config.update("jax_compilation_cache_dir", str(CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def x64():
    """Double precision for one test."""
    with jax.enable_x64(True):
        yield


TINY = [
    "--steps=4",
    "--set=model.hidden_size=8",
    "--set=train.batch_size=8",
    "--set=analysis.samples=16",
    "--set=task.min_length=3",
    "--set=task.max_length=5",
]
"""The shapes of the small sweep, so that its compiled programs serve the program's tests too."""


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The folder of one run, trained by the program."""
    from aedjax.cli import run_command

    folder = tmp_path_factory.mktemp("cli") / "one"
    assert run_command(["train", *TINY, "--out", str(folder)]) == 0
    return folder
