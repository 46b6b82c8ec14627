"""Two real processes of one `jax.distributed` program, on loopback."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import CACHE

ROOT = Path(__file__).parents[2]
SECONDS = 240
"""How long a pair may take on a machine that is busy with something else."""


def start_pair(*arguments: str | Path) -> list[subprocess.Popen]:
    """Start Python twice with these arguments, one host device each; {address} and {process} in
    them are filled in."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=1",
        "JAX_COMPILATION_CACHE_DIR": str(CACHE),
        "PYTHONPATH": str(ROOT),
    }
    return [
        subprocess.Popen(
            [
                sys.executable,
                *(
                    str(text).replace("{address}", address).replace("{process}", str(process))
                    for text in arguments
                ),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for process in range(2)
    ]


def ends(pair: Sequence[subprocess.Popen]) -> list[tuple[int, str, str]]:
    """Exit code, standard output and standard error of each, once both have ended."""
    try:
        return [
            (process.returncode, out, err)
            for process in pair
            for out, err in [process.communicate(timeout=SECONDS)]
        ]
    finally:
        for process in pair:
            process.kill()
