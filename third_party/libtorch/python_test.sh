#!/usr/bin/env bash
# Runs one Python file with LibTorch importable.   python_test.sh PYTHON SITE FILE [ARGUMENT...]
set -euo pipefail
python=$1 site=$2
shift 2
# Nothing of the caller's own Python may answer in the place of the locked wheels.
exec env PYTHONPATH="$site:$PWD" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 "$python" "$@"
