#!/bin/sh
# Instructions of the event loop (valgrind --tool=callgrind) for fixed runs, against tests/bench/instructions.tsv. TAP.
# Usage: instructions.sh BUILD            judges: 3 % more an event and in all than the table says is too many
#        instructions.sh BUILD --update   writes the table
#        instructions.sh BUILD --table    the table that is there, as markdown
# What is counted is csim_engine_run and all it calls, so neither loading nor printing. A run with more events at the same cost each,
# or fewer at a higher cost, is another model and not a slower program: both figures must have grown.
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: instructions.sh BUILD [--update|--table]}
what=${2:-judge}
table=tests/bench/instructions.tsv
tab=$(printf '\t')
unset MALLOC_PERTURB_ # meson test's; filling memory is instructions too
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

skip() { echo "1..0 # SKIP $1"; exit 0; }

# The compilers whose code is in the program, in one line, as they sign it.
compilers() { readelf -p .comment "$build/src/cli/collsim" | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' | sort -u | paste -sd ';' -; }

# The C library takes other routines on other processors, and counts differ.
processor() { sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1; }

# measure COMMAND : sets events and instructions.
measure() {
  line=$(printf '%s\n' "$1" | sed "s#^collsim #$build/src/cli/collsim #; s#^bench-engine #$build/tests/bench/bench-engine #")
  eval "valgrind --tool=callgrind --toggle-collect=csim_engine_run --callgrind-out-file=$tmp/out $line" >"$tmp/stdout" 2>"$tmp/stderr" || {
    cat "$tmp/stdout" "$tmp/stderr" >&2
    return 1
  }
  events=$(sed -n 's/.*"events": \([0-9]*\).*/\1/p' "$tmp/stdout" | tail -n 1)
  instructions=$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$tmp/out")
}

rows() { grep -v '^#' "$table"; }

markdown() {
  echo '| run | events | instructions an event | million instructions |'
  echo '|---|---|---|---|'
  rows | awk -F '\t' '{ printf "| `%s` | %d | %.1f | %.1f |\n", $4, $2, $3 / $2, $3 / 1e6 }'
}

update() {
  grep '^#' "$table" | grep -v -e '^# compiler: ' -e '^# processor: '
  echo "# compiler: $(compilers)"
  echo "# processor: $(processor)"
  rows | while IFS="$tab" read -r name _ _ command; do
    measure "$command"
    printf '%s\t%s\t%s\t%s\n' "$name" "$events" "$instructions" "$command"
    printf '%s: %s events, %s instructions\n' "$name" "$events" "$instructions" >&2
  done
}

judge() {
  echo "1..$(rows | wc -l)"
  number=0
  rows | while IFS="$tab" read -r name events_then instructions_then command; do
    number=$((number + 1))
    measure "$command" || events=0
    [ "$events" -gt 0 ] || { echo "not ok $number $name: did not run"; continue; }
    awk -v n="$number" -v name="$name" -v e="$events" -v i="$instructions" -v e0="$events_then" -v i0="$instructions_then" 'BEGIN {
      now = i / e; then = i0 / e0
      bad = now > 1.03 * then && i > 1.03 * i0
      printf "%sok %d %s: %.1f instructions an event (table %.1f, %+.1f %%), %.4g in all (%+.1f %%)\n", bad ? "not " : "", n, name, now, then, 100 * (now / then - 1), i, 100 * (i / i0 - 1)
      if (now < then / 1.03) print "# " name ": fewer than the table says; tools/instructions.sh BUILD --update"
    }'
  done
}

[ "$what" = --table ] && { markdown; exit; }
command -v valgrind >/dev/null || skip "no valgrind; ./dev slow installs it"
if [ "$what" = --update ]; then
  update >"$tmp/table"
  cp "$tmp/table" "$table"
else
  then=$(sed -n 's/^# compiler: //p' "$table")
  [ "$then" = "$(compilers)" ] || skip "the table is for $then, this program is from $(compilers)"
  then=$(sed -n 's/^# processor: //p' "$table")
  [ "$then" = "$(processor)" ] || skip "the table is for the processor $then, this is $(processor)"
  judge
fi
