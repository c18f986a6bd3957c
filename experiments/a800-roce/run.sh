#!/bin/sh
# The five cases of the study and what explains them, one line each. Usage: run.sh [collsim [SIZE]]
# Columns: case, time, bus bandwidth, then the network's counters (collsim run --explain).
set -e
collsim=${1:-collsim}
size=${2:-1G}
here=$(dirname "$0")

# NAME CLUSTER ALGORITHM [OPTIONS]
row() {
  name=$1 cluster=$2 algo=$3
  shift 3
  "$collsim" run "$here/$cluster.json" -b "$size" -e "$size" -n 1 --fidelity packet --algo "$algo" --explain -q "$@" |
    awk -v name="$name" '
      $3 == "float" { time = $6; busbw = $8 }
      /^  packets:/ { sub(/^  packets: /, ""); counters = $0 }
      END { printf "%-22s %9.0f us %6.1f GB/s  %s\n", name, time, busbw, counters }'
}

row "1 lossy"               lossy         Ring
row "1 lossy, bad cables"   lossy-cables  Ring
row "2 PFC and ECN"         lossless-1500 Ring
row "3 MTU 4096"            lossless-4096 Ring
row "4 NCCL_BUFFSIZE 4 MiB" lossless-4096 Ring -x NCCL_BUFFSIZE=4194304
row "5 Tree"                lossless-4096 Tree
row "3 PFC alone"           pfc-only      Ring
row "3 adaptive routing"    adaptive      Ring
