#!/usr/bin/env bash
# Runs the launcher beside a binary that only tells what it was given.  launcher_test.sh LAUNCHER
set -euo pipefail

launcher=$PWD/$1
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"
unset TIGON_LIBTORCH TIGON_PYTHON LD_LIBRARY_PATH

failures=0
# check NAME WANTED_STATUS WANTED_TEXT COMMAND...: status, and text somewhere in the output.
check() {
  local name=$1 wanted=$2 text=$3 output status=0
  shift 3
  output=$("$@" 2>&1) || status=$?
  if [[ $status != "$wanted" || $output != *"$text"* ]]; then
    echo "$name: status $status, wanted $wanted; wanted '$text' in: $output"
    failures=$((failures + 1))
  fi
}

mkdir -p bundle/bin bundle/lib
cp "$launcher" bundle/tigon
cat >bundle/bin/tigon <<'END'
#!/bin/bash
echo "path=$LD_LIBRARY_PATH"
for argument in "$@"; do echo "argument=<$argument>"; done
exit 7
END
chmod +x bundle/tigon bundle/bin/tigon

# make_torch SITE VERSION
make_torch() {
  mkdir -p "$1/torch/lib" "$1/nvidia/cu13/lib" "$1/nvidia/cudnn/lib"
  touch "$1/torch/lib/libtorch.so" "$1/torch/__init__.py"
  echo "__version__ = '$2'" >"$1/torch/version.py"
}
make_torch right 2.11.0+cu130
make_torch old 2.10.0
make_torch "with space" 2.11.0
mkdir -p empty archive/lib
touch archive/lib/libtorch.so
echo "2.11.0+cu130" >archive/build-version
right=$PWD/right
# Isolated and without site-packages: it has no torch, whatever this machine's Python has.
printf '#!/bin/bash\nexec python3 -I -S "$@"\n' >bare
chmod +x bare

check "site folder" 7 "path=$right/torch/lib:$right/nvidia/cu13/lib:$right/nvidia/cudnn/lib:$PWD/bundle/lib" \
  bundle/tigon --libtorch right
check "torch folder" 7 "path=$right/torch/lib" bundle/tigon --libtorch=right/torch
check "unpacked archive" 7 "path=$PWD/archive/lib" bundle/tigon --libtorch archive
check "folder with a space" 7 "path=$PWD/with space/torch/lib" bundle/tigon --libtorch "with space"
check "variable" 7 "path=$right/torch/lib" env TIGON_LIBTORCH=right bundle/tigon
check "option before variable" 7 "path=$right/torch/lib" env TIGON_LIBTORCH=old bundle/tigon --libtorch right
check "arguments" 7 $'argument=<run>\nargument=<a b>\nargument=<--libtorch>' \
  bundle/tigon --libtorch right run "a b" --libtorch
check "caller's library path" 7 "bundle/lib:/own" env LD_LIBRARY_PATH=/own bundle/tigon --libtorch right
check "wrong version" 13 "built for LibTorch 2.11.0; $PWD/old/torch is 2.10.0" bundle/tigon --libtorch old
check "no LibTorch in it" 13 "empty holds neither" bundle/tigon --libtorch empty
check "no such folder" 13 "there is no folder nowhere" bundle/tigon --libtorch nowhere
check "option without a value" 13 "wants a folder" bundle/tigon --libtorch
check "Python's own" 7 "path=$right/torch/lib" env PYTHONPATH=right bundle/tigon
check "Python without torch" 13 "has no torch" env TIGON_PYTHON="$PWD/bare" bundle/tigon
check "no such Python" 13 "no Python (nopython)" env TIGON_PYTHON=nopython bundle/tigon
ln -s "$PWD/bundle/tigon" link
check "through a link" 7 "path=$right/torch/lib" ./link --libtorch right

((failures == 0))
