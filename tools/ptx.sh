#!/bin/sh
# Makes src/probe/kernels.ptx of kernels.cu with clang (Debian's clang-14; no CUDA toolkit). `tools/ptx.sh --check`: are they in step?
set -eu
cd "$(dirname "$0")/.."
out=src/probe/kernels.ptx
make() {
  clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -O2 -S -o - src/probe/kernels.cu |
    sed -e '/^\/\/ Generated/d' -e '/^[[:space:]]*\/\//d'
}
if [ "${1:-}" = --check ]; then
  new=$(mktemp)
  trap 'rm -f "$new"' EXIT
  make >"$new"
  cmp -s "$new" "$out" || { echo "ptx: $out is not what kernels.cu gives; run tools/ptx.sh" >&2; exit 1; }
else
  make >"$out"
fi
