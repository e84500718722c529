#!/usr/bin/env bash
# Finds this machine's LibTorch and runs Tigon's suites with it.
#
#   ./tigon [--libtorch DIR] [ARGUMENT...]
#
# LibTorch is looked for in DIR (or TIGON_LIBTORCH): a site-packages folder, its torch folder, or an
# unpacked LibTorch archive. Without it, in the Python that TIGON_PYTHON names, or python3's. Every
# other argument goes to the suites; `./tigon --help` tells them.
set -euo pipefail

readonly WANTED=2.11.0

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

refuse() {
  echo "tigon: $1" >&2
  exit 13
}

libtorch=${TIGON_LIBTORCH:-}
case ${1:-} in
  --libtorch)
    [[ $# -ge 2 ]] || refuse "--libtorch wants a folder"
    libtorch=$2
    shift 2
    ;;
  --libtorch=*)
    libtorch=${1#--libtorch=}
    shift
    ;;
esac

if [[ -n $libtorch ]]; then
  [[ -d $libtorch ]] || refuse "--libtorch: there is no folder $libtorch"
  torch=
  for candidate in "$libtorch/torch" "$libtorch"; do
    if [[ -e $candidate/lib/libtorch.so ]]; then
      torch=$(cd "$candidate" && pwd)
      break
    fi
  done
  [[ -n $torch ]] || refuse "--libtorch: $libtorch holds neither torch/lib/libtorch.so nor lib/libtorch.so"
else
  python=${TIGON_PYTHON:-python3}
  command -v "$python" >/dev/null ||
    refuse "no Python ($python) to find LibTorch with; give --libtorch DIR or TIGON_PYTHON"
  # find_spec runs nothing of the package: no library is loaded and no GPU woken.
  torch=$("$python" -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else "")
') || refuse "$python could not be run to find LibTorch"
  [[ -n $torch ]] ||
    refuse "$python has no torch; install torch==$WANTED there, or give --libtorch DIR or TIGON_PYTHON"
fi

# 2.11.0+cu130 and the like are builds of 2.11.0.
version=
if [[ -e $torch/version.py ]]; then
  version=$(sed -n "s/^__version__ *= *['\"]\([^'\"]*\)['\"].*/\1/p" "$torch/version.py")
elif [[ -e $torch/build-version ]]; then
  version=$(<"$torch/build-version")
fi
[[ ${version%%+*} == "$WANTED" ]] ||
  refuse "built for LibTorch $WANTED; $torch is ${version:-of unknown version}"

site=$(dirname "$torch")
path=$torch/lib
for library in cu13 cudnn nccl cusparselt nvshmem; do
  [[ -d $site/nvidia/$library/lib ]] && path+=:$site/nvidia/$library/lib
done
# LibTorch's folders come first: its OpenMP and CUDA runtimes are to be the process's only ones.
export LD_LIBRARY_PATH=$path:$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# What the binary prints as the command that runs a case again, and where it was built from.
export TIGON_LAUNCHER=${TIGON_LAUNCHER:-$0}
if [[ -f $here/commit ]]; then
  TIGON_GIT_COMMIT=$(<"$here/commit")
  export TIGON_GIT_COMMIT
fi
exec "$here/bin/tigon" "$@"
