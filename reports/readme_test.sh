#!/usr/bin/env bash
# readme_test.sh READER README: the tables are those of the records; a changed figure is found.
set -euo pipefail

reader=$1 readme=$2
"$reader" --check "$readme"

work=$(mktemp -d "$TEST_TMPDIR/XXXXXX")
mkdir -p "$work/suites"
cp -RL suites/baselines "$work/suites/"
sed 's/^| \(rows=.*\) us (/| \1 ns (/' "$readme" >"$work/README.md"
status=0
"$reader" --check "$work/README.md" 2>"$work/errors" || status=$?
[[ $status -eq 11 ]] || { echo "a changed figure gives status $status, expected 11"; exit 1; }
