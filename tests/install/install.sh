#!/bin/sh
# Installs into an empty folder and uses the result as a stranger would: binary, library, headers, man page, completion. TAP.
# Usage: install.sh BUILD_ROOT SOURCE_ROOT CC
# shellcheck disable=SC2317  # functions are called through check
set -u
build=$1 source=$2 cc=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
n=0 bad=0
check() { # check NAME COMMAND...
  name=$1; shift
  n=$((n + 1))
  if "$@" >"$root/log" 2>&1; then echo "ok $n $name"
  else echo "not ok $n $name"; sed 's/^/# /' "$root/log"; bad=1; fi
}
compile() { # compile EXTRA-ARGS OUT
  # shellcheck disable=SC2046,SC2086  # lists of words
  $cc "$source/tests/install/consumer.c" -o "$root/$2" $(pkg-config --cflags --libs $1 collsim)
}
runs() { [ "$("$@")" = "16 ranks: all_reduce, has a bandwidth" ]; }

check "meson install" env DESTDIR="$root/dest" meson install -C "$build" --no-rebuild
prefix=$(dirname "$(dirname "$(find "$root/dest" -type f -name collsim -path '*/bin/*')")")
pc=$(find "$root/dest" -name collsim.pc)
libdir=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$libdir
export PKG_CONFIG_PATH LD_LIBRARY_PATH
# The .pc names the final prefix; the files lie under DESTDIR.
sed -i "s|^prefix=.*|prefix=$prefix|" "$pc"
check "installed binary runs" "$prefix/bin/collsim" version
check "pkg-config finds it" pkg-config --exists collsim
check "a consumer builds (shared)" compile "" shared
check "and runs" runs "$root/shared"
check "only the public functions leave the library" sh -c "! nm -D --defined-only '$libdir/libcollsim.so' | grep ' T ' | grep -v ' csim_\(request\|result\|error\|coll\|algo\|proto\|type\|op\)_'"
check "man page" test -s "$prefix/share/man/man1/collsim.1"
check "bash completion" test -s "$prefix/share/bash-completion/completions/collsim"
echo "1..$n"
exit $bad
