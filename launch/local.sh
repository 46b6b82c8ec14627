#!/usr/bin/env bash
# Run a sweep by several workers on this machine: one for every accelerator, or where there is
# none, one for every CORES cores (8 unless set). Options of `aedjax sweep` may follow the spec.
#
#   launch/local.sh sweeps/quickstart.toml --out runs/quickstart
#   CORES=4 PYTHON=.venv/bin/python launch/local.sh sweeps/quickstart.toml
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: launch/local.sh SPEC [OPTION of aedjax sweep]..." >&2
    exit 2
fi
python=${PYTHON:-python3}
accelerators='from aedjax.sweep.executors import accelerators; print(len(accelerators()))'
workers=$("$python" -c "$accelerators")
if [ "$workers" -eq 0 ]; then
    cores=${CORES:-8}
    workers=$((($(nproc) + cores - 1) / cores))
fi
exec "$python" -m aedjax sweep "$@" --workers "$workers"
