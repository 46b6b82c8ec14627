"""`aedjax devices`: what will compute, and why. Commands that compute begin with `ready`."""

import os
from dataclasses import dataclass
from pathlib import Path

from aedjax.commands.options import show
from aedjax.errors import InputError, reason


@dataclass(frozen=True)
class Devices:
    """Say which devices a sweep would use here, and why.

    Examples:
        aedjax devices
    """

    json: bool = False
    """Print as JSON."""

    def run(self) -> int:
        """Print the devices."""
        ready()
        import jax

        from aedjax.sweep.backends import cores, mesh_for, strategy_of
        from aedjax.sweep.memory import available_memory, format_bytes
        from aedjax.sweep.run import default_layout

        layout, devices = default_layout(None), jax.devices()
        platform, strategy = devices[0].platform, strategy_of(mesh_for(len(devices)))
        reasons = {
            "map": f"members run one after another on each: one host device a core, {cores()} "
            "cores, which is faster on a CPU than batching them",
            "vmap": "members run side by side on each (vmap), the members cut over all devices",
        }
        memory = available_memory(devices, None)
        content = {
            "platform": platform,
            "kind": layout.device_kind,
            "devices": layout.devices,
            "strategy": strategy,
            "why": reasons[strategy],
            "width": layout.width,
            "usable_bytes_each": memory,
        }

        def people() -> None:
            print(f"{layout.devices} x {layout.device_kind} ({platform})")
            print(reasons[strategy])
            print(f"units of at most {layout.width} members; {format_bytes(memory)} a device")

        show(self.json, content, people)
        return 0


def ready(folder: Path | None = None, no_cache: bool = False) -> None:
    """Let JAX look for its devices: on a CPU as many as the sweep in `folder` was cut for, or
    one a core. With `no_cache` it keeps no compiled program.

    Raises:
        InputError: if the platforms asked for are not there.
    """
    import jax

    from aedjax.sweep.backends import use_host_devices
    from aedjax.sweep.record import read_record

    if no_cache:
        jax.config.update("jax_enable_compilation_cache", False)
    if folder is not None and (folder / "sweep.json").exists():
        layout = read_record(folder).layout
        if layout.device_kind == "cpu":
            use_host_devices(layout.devices)
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        # A platform whose plugin is missing ends in a bare AssertionError.
        detail = (
            reason(error).partition(" (set JAX_PLATFORMS")[0].rstrip(".")
            if str(error)
            else "no plugin"
        )
        raise InputError(
            f"JAX_PLATFORMS = {os.environ.get('JAX_PLATFORMS', '')!r} finds no device ({detail}); "
            "unset it, or use 'cpu'"
        ) from None
