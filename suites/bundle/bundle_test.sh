#!/usr/bin/env bash
# Unpacks the bundle and runs it.  bundle_test.sh ARCHIVE PYTHON SITE
set -euo pipefail

archive=$PWD/$1 python=$2 site=$3
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"
tar xzf "$archive"
unset LD_LIBRARY_PATH TIGON_LIBTORCH

failures=0
fail() {
  echo "$1"
  failures=$((failures + 1))
}

size=$(stat -Lc %s "$archive")
((size < 40000000)) || fail "the archive has $size bytes"
for file in tigon LICENSE bin/tigon bin/libtigon.so bin/libtigon_mutants.so; do
  [[ -f tigon/$file ]] || fail "the archive lacks $file"
done
# LibTorch, CUDA's libraries and a second OpenMP must not come along.
strangers=$(find tigon -name 'libtorch*' -o -name 'libc10*' -o -name 'libcud*' -o -name 'libgomp*')
[[ -z $strangers ]] || fail "the archive holds $strangers"

# The build machine's LibTorch would win over the one that the launcher finds.
for file in tigon/bin/*; do
  ! grep -qaF "$site" "$file" || fail "$file names the build machine's $site"
done

export PYTHONPATH=$site TIGON_PYTHON=$python
tigon/tigon list --preset smoke >list.txt || fail "list: status $?"
[[ $(grep -cE '^ +(timed|verify) +[a-z_]+/' list.txt) -gt 0 ]] || fail "list names no case: $(head -c 400 list.txt)"

((failures == 0))
