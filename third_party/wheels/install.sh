#!/usr/bin/env bash
# Installs the wheels of a lock file once per machine and prints the folder they are in.
#   install.sh NAME LOCK_FILE PYTHON
# The folder's name carries the lock file's hash and the Python's tag, so every workspace of one
# user shares it and a changed lock file gets a new one. It appears complete or not at all.
set -euo pipefail

name=$1 lock_file=$2 python=$3

cache=${TIGON_CACHE:-${XDG_CACHE_HOME:-${HOME:?neither TIGON_CACHE, XDG_CACHE_HOME nor HOME is set}/.cache}/tigon}
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
hash=$(sha256sum "$lock_file" | cut -c1-16)
target=$cache/$name-$hash-$tag

if [[ ! -d $target ]]; then
  mkdir -p "$cache"
  exec 9>"$cache/$name.lock"
  flock 9
  if [[ ! -d $target ]]; then
    "$python" -m pip --version >/dev/null 2>&1 || {
      echo "$python has no pip; on Debian and Ubuntu: apt-get install python3-pip" >&2
      exit 1
    }
    free_mb=$(df -Pm "$cache" | awk 'NR == 2 {print $4}')
    [[ $name != libtorch || $free_mb -gt 8000 ]] || {
      echo "LibTorch needs 8 GB free in $cache to install; there are $free_mb MB (TIGON_CACHE moves it)" >&2
      exit 1
    }
    rm -rf "$target".partial.*
    partial=$target.partial.$$
    trap 'rm -rf "$partial"' EXIT
    # --target leaves the system's Python alone; the flag only quiets pip's guard (PEP 668).
    options=(--target "$partial" --no-deps --no-compile --require-hashes --only-binary=:all:
             --no-cache-dir --disable-pip-version-check --no-warn-script-location --quiet
             --root-user-action=ignore)
    if grep -q -- --break-system-packages <<<"$("$python" -m pip install --help)"; then
      options+=(--break-system-packages)
    fi
    "$python" -m pip install "${options[@]}" --requirement "$lock_file" >&2
    mv "$partial" "$target"
    trap - EXIT
  fi
fi
echo "$target"
