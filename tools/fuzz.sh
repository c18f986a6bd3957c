#!/bin/sh
# Every libFuzzer target for $1 seconds each, from its checked-in corpus; new inputs go to the build folder.
# Last line: "N passed, N failed" (a target is a case).
set -eu
seconds=${1:-60}
build="build-fuzz"
[ -f $build/build.ninja ] || CC=clang meson setup $build -Dfuzz=libfuzzer -Db_sanitize=address,undefined -Db_lundef=false >&2
# shellcheck disable=SC2046  # a list of words
ninja -C $build $(ninja -C $build -t targets all | sed -n 's|^\(tests/fuzz/fuzz[-_a-z]*\): .*|\1|p') >&2
# The reference's parser cases, where the reference is at hand, are more seeds for the NCCL dialect.
vectors=${COLLSIM_REFERENCE:-../shared}/oracle/parser-cases.json
seeds=$build/fuzz-seeds
mkdir -p "$seeds"
[ ! -f "$vectors" ] || python3 tools/reference-seeds.py "$vectors" "$seeds/nccl-xml"
passed=0 failed=0
for target in "$build"/tests/fuzz/fuzz[-_]*; do
  if [ ! -f "$target" ] || [ ! -x "$target" ]; then continue; fi
  name=$(basename "$target" | sed 's/^fuzz[-_]//')
  work=$build/fuzz-work/$name
  mkdir -p "$work" "$seeds/$name"
  # libFuzzer's own crash code is 77, which test harnesses read as "skipped".
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -error_exitcode=1 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work" "tests/fuzz/corpora/$name" "$seeds/$name" >"$work.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok $name: $(grep -o 'number_of_executed_units: *[0-9]*' "$work.log" | grep -o '[0-9]*$') runs in $seconds s"
  else
    failed=$((failed + 1))
    echo "failed: $name"
    tail -n 40 "$work.log"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
