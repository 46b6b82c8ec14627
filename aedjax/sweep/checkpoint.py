"""Checkpoints of a unit in training: Orbax, each whole with its checksums, the last two kept.

A checkpoint is the folder `checkpoints/<step>`. It holds host arrays, so that it can be read with
another number of devices.
"""

import errno
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import jax
import numpy as np

from aedjax.sweep.engine import Progress, analysis_steps
from aedjax.sweep.files import (
    DamagedError,
    remove,
    replacing,
    verify_checksums,
    write_checksums,
)
from aedjax.sweep.hosts import agreed, fetch, is_leader, lead, together
from aedjax.sweep.programs import Programs
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.spec import Member

NONE = -1
"""The step of no checkpoint."""

OVERHEAD_BYTES = 2**20
"""What a checkpoint takes beside its arrays, and more: the index, the checksums, whole blocks."""

KEPT = 2
"""Checkpoints of a unit that are kept: one more than needed, should the last be damaged."""


def save_checkpoint(folder: Path, progress: Progress) -> None:
    """Write a checkpoint, and remove all but the last two."""
    tree = fetch({"state": progress.state, "metrics": progress.metrics})

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / str(progress.step)) as temporary:
            save_tree(temporary, tree)
            write_checksums(temporary)
        for step in _steps(folder)[:-KEPT]:
            remove(folder / str(step))

    lead(write)


def load_checkpoint(
    folder: Path, programs: Programs, member: Member, report: Reporter
) -> Progress | None:
    """The last checkpoint that is whole, or None; damaged ones are reported and removed."""
    step = agreed(together(lambda: _last_whole(folder, report) if is_leader() else NONE))
    if step == NONE:
        return None
    shapes = _shapes(programs, member, step)
    return Progress(step, **together(lambda: restore_tree(folder / str(step), shapes)))


def _last_whole(folder: Path, report: Reporter) -> int:
    for step in reversed(_steps(folder)):
        try:
            verify_checksums(folder / str(step))
            return step
        except DamagedError as error:
            report.note(f"checkpoint {folder / str(step)} is damaged ({error}); it is passed over")
            remove(folder / str(step))
    return NONE


def _steps(folder: Path) -> list[int]:
    """The steps of the checkpoints in a folder, in order."""
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())


def checkpointed_step(folder: Path) -> int:
    """The step of the last checkpoint in a folder, 0 if there is none."""
    return max(_steps(folder), default=0)


def _shapes(programs: Programs, member: Member, step: int) -> Any:
    """The shapes and types of a checkpoint's arrays, as zeros."""
    done = sum(analysis <= step for analysis in analysis_steps(member))

    def zeros(leaf: Any, *analyses: int) -> np.ndarray:
        return np.zeros((leaf.shape[0], *analyses, *leaf.shape[1:]), leaf.dtype)

    return {
        "state": jax.tree.map(zeros, programs.state),
        "metrics": {name: zeros(found, done) for name, found in programs.metrics.items()},
    }


def save_tree(path: Path, tree: Any) -> None:
    """Write a tree of host arrays as an Orbax checkpoint; of several processes one calls this.

    Raises:
        OSError: if it cannot be written. Orbax has many errors for that.
    """
    needed = sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(tree)) + OVERHEAD_BYTES
    if shutil.disk_usage(path.parent).free < needed:
        # Orbax would find out in the middle, and say so in pages of its own.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    try:
        with _checkpointer() as checkpointer:
            checkpointer.save(path.absolute(), tree)
            checkpointer.wait_until_finished()
    except (OSError, ValueError) as error:
        for half in path.parent.glob(f"{path.name}.orbax*"):
            remove(half)
        full = any(text in str(error) for text in ("No space left", "RESOURCE_EXHAUSTED"))
        code = errno.ENOSPC if full else getattr(error, "errno", None) or errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from error


def restore_tree(path: Path, like: Any) -> Any:
    """Read an Orbax checkpoint of arrays shaped like those of `like`."""
    with _checkpointer() as checkpointer:
        return checkpointer.restore(path.absolute(), like)


def _checkpointer() -> Any:
    """Orbax for this process alone; imported here, since the import takes a second."""
    import orbax.checkpoint as ocp

    # It warns of every array that it does not find on a device, and tells of errors twice.
    logging.getLogger("absl").setLevel(logging.CRITICAL)
    own = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=own, active_processes={own}, barrier_sync_key_prefix=f"process{own}"
    )
    return ocp.StandardCheckpointer(multiprocessing_options=alone)
