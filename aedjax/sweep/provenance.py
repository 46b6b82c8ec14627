"""Where and with what a result was made; the one part of the data that depends on the host."""

import platform
from typing import Any

import jax
import numpy as np

from aedjax.version import __version__


def provenance() -> dict[str, Any]:
    """Versions, machine and devices of this process."""
    device = jax.devices()[0]
    return {
        "aedjax": __version__,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "device": f"{len(jax.devices())} x {device.device_kind}",
    }
