#!/usr/bin/env bash
# Check, in under 5 minutes, that aedjax does on this machine's accelerator what it promises, and
# write a one-page report. The exit code is 1 if a check failed.
#
#     launch/accelerator_check.sh [REPORT] [--tiny]
#
# PYTHON names the interpreter that has aedjax installed; `python` unless given.
set -euo pipefail
exec "${PYTHON:-python}" "$(dirname "$0")/accelerator_check.py" "$@"
