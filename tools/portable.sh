#!/bin/sh
# One binary with GLib, libxml2 and cJSON inside, that needs nothing but glibc: build-portable/collsim.
# cJSON has no static library in Debian: its source package is fetched through apt (CJSON_SOURCE=DIR gives a folder
# that holds cjson/cJSON.c and cjson/cJSON.h instead). Ends with the checks that the promise holds.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=$root/build-portable
promised=2.34 # RHEL 9, Ubuntu 22.04, Debian 12 and later

die() { echo "portable: $*" >&2; exit 1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else die "need root or sudo: $*"; fi; }

# Packages beyond those of an ordinary build.
need() {
  missing=
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "portable: installing$missing" >&2
  # shellcheck disable=SC2086  # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 ||
    { as_root apt-get update -q >&2; as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2; }
}

# "deb-src" lines for the archives that the machine installs from; none is enabled by default.
source_list() {
  # shellcheck disable=SC2016  # apt fills these in
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk '$3 == "main" && !seen[$0]++ { print "deb-src", $1, $2, $3 }'
}

# The source package with Debian's patches, unpacked as $1/cjson/. apt checks the signatures.
fetch_cjson() {
  work=$1/fetch
  mkdir -p "$work/lists/partial"
  source_list >"$work/sources.list"
  [ -s "$work/sources.list" ] || die "apt knows no archive; give cJSON's source with CJSON_SOURCE=DIR"
  apt="apt-get -q -o Dir::Etc::SourceList=$work/sources.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$work/lists -o Dir::Cache=$work"
  (cd "$work" && $apt update && $apt source cjson) >"$work/log" 2>&1 ||
    { tail -n 5 "$work/log" >&2; die "cJSON's source could not be fetched; give it with CJSON_SOURCE=DIR"; }
  mkdir -p "$1/cjson"
  cp "$work"/cjson-*/cJSON.c "$work"/cjson-*/cJSON.h "$1/cjson/"
  rm -rf "$work"
}

# --- build ---
need liblzma-dev zlib1g-dev libicu-dev dpkg-dev binutils
cjson=${CJSON_SOURCE:-$build/cjson-source}
[ -f "$cjson/cjson/cJSON.c" ] || [ -n "${CJSON_SOURCE:-}" ] || fetch_cjson "$cjson"
[ -f "$cjson/cjson/cJSON.c" ] || die "no $cjson/cjson/cJSON.c"
[ -f "$build/build.ninja" ] ||
  meson setup "$build" --buildtype=release -Dportable=true -Dcjson_source="$cjson" -Dfuzz=off >&2
ninja -C "$build" src/cli/collsim >&2

# --- the promise ---
binary=$build/src/cli/collsim
foreign=$(ldd "$binary" | awk '{ print $1 }' | grep -Ev '^(linux-vdso|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|/lib.*/ld-linux)' || true)
[ -z "$foreign" ] || die "needs more than glibc: $(echo "$foreign" | tr "\n" " ")"
if nm "$binary" | grep -q 'icudt'; then die "ICU's data is inside"; fi
newest=$(objdump -T "$binary" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1 | sed 's/GLIBC_//')
[ "$(printf '%s\n%s\n' "$newest" "$promised" | sort -V | tail -n 1)" = "$promised" ] || die "needs glibc $newest, promised is $promised"
strip -o "$build/collsim" "$binary"
"$build/collsim" --version >/dev/null || die "the binary does not run"

# In a folder with glibc and nothing else, where that can be tried.
if [ "$(id -u)" = 0 ]; then
  bare=$(mktemp -d)
  trap 'rm -rf "$bare"' EXIT
  chmod 755 "$bare"
  for library in $(ldd "$build/collsim" | grep -oE '/[^ ]+'); do
    mkdir -p "$bare/$(dirname "$library")"
    cp -L "$library" "$bare/$library"
  done
  cp "$build/collsim" "$bare/collsim"
  chroot "$bare" /collsim --version >/dev/null || die "does not run beside glibc alone"
  chroot "$bare" /collsim run 'dgx-h100*2' -b 1M -e 1M >/dev/null || die "a run needs files that are not in the binary"
fi
echo "build-portable/collsim: $(du -h "$build/collsim" | cut -f 1)B, glibc $newest or later, nothing else"
