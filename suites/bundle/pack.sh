#!/usr/bin/env bash
# Packs the suites' binary with what it needs and LibTorch does not bring into a .tar.gz.
#   pack.sh OUTPUT LAUNCHER LICENSE STATUS BINARY LIBRARY...
# STATUS is Bazel's file of workspace status: the bundle remembers the commit that it was built from.
set -euo pipefail

export PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C
output=$PWD/$1 launcher=$2 license=$3 status=$4 binary=$5
shift 5
readonly LIMIT_BYTES=$((40 * 1000 * 1000))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/tigon
mkdir -p "$root/bin" "$root/lib"

cp "$launcher" "$root/tigon"
cp "$license" "$root/LICENSE"
sed -n 's/^STABLE_GIT_COMMIT //p' "$status" >"$root/commit"
cp "$binary" "$root/bin/tigon"
# Beside the binary: it looks for the mutants where it lies itself.
for library in "$@"; do cp "$library" "$root/bin/"; done
chmod -R u+w "$root"
chmod 755 "$root/tigon" "$root/bin/tigon"

# The packager's own shared libraries, by what the loader would take here. The C and C++ runtimes
# belong to the machine; LibTorch's and CUDA's come with LibTorch, its OpenMP too.
for file in "$root"/bin/*; do
  readelf --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
done | sort -u >"$work/needed"
while read -r name; do
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux* | libstdc++.so.* | libgcc_s.so.*) ;;
    libtorch*.so | libc10*.so | libcud*.so.* | libcu*.so.* | libnv*.so* | libgomp.so.*) ;;
    libtigon*.so) ;;
    *)
      from=$(ldd "$root/bin/tigon" | awk -v name="$name" '$1 == name {print $3; exit}')
      [[ -f $from ]] || { echo "pack: $name, which the bundle needs, was not found" >&2; exit 1; }
      cp -L "$from" "$root/lib/$name"
      ;;
  esac
done <"$work/needed"

chmod -R u+w "$root/lib"
for file in "$root"/bin/* "$root"/lib/*; do
  [[ -f $file ]] || continue
  strip --strip-unneeded "$file"
  # An rpath would win over the LibTorch that the launcher found. Setting it first also overwrites
  # the build machine's folders, which removal alone leaves in the file.
  # shellcheck disable=SC2016  # $ORIGIN is the loader's word
  if [[ -n $(patchelf --print-rpath "$file") ]]; then
    patchelf --set-rpath '$ORIGIN' "$file"
    patchelf --remove-rpath "$file"
  fi
done

tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
  --directory "$work" tigon | gzip -9n >"$output"
size=$(stat -c %s "$output")
((size < LIMIT_BYTES)) || { echo "pack: $output has $size bytes; at most $LIMIT_BYTES" >&2; exit 1; }
