#!/usr/bin/env bash
# Holds the objects of one CPU capability to the rule in kernels/core/cpu/capability.h: no symbol of
# theirs may be one that the linker shares with baseline code. A weak symbol (an inline function or
# a template of std::, say) compiled for AVX-512 could be the one copy that is kept, and would then
# run on a processor without it.    baseline_test.sh ARCHIVE...
set -euo pipefail

export PATH=/usr/local/bin:/usr/bin:/bin
failed=0
checked=0
for archive in "$@"; do
  [[ $archive == *.a ]] || continue
  capability=${archive%.a}
  capability=${capability%.pic}
  capability=${capability%.lo}
  capability=${capability##*_}
  checked=$((checked + 1))
  # Type letters W, V and u: symbols of which the linker keeps one.
  shared=$(nm --demangle --defined-only "$archive" |
    awk '$2 ~ /^[WVu]$/' | grep -v "tigon::cpu_$capability::" || true)
  if [[ -n $shared ]]; then
    echo "$archive holds symbols that code for other processors may share:"
    echo "$shared"
    failed=1
  fi
done
if ((checked == 0)); then
  echo "no archive was given"
  exit 1
fi
exit "$failed"
