#!/bin/sh
# Everything that a machine with NVIDIA GPUs can tell about collsim, in one go: copies, NCCL's collectives, comparison with
# predictions made before. Needs the portable binary (./dev portable) and NCCL; no compiler, no package, no network.
#
#   run.sh COLLSIM OUT [PART...]     PART: facts copies gpus ranks shaped congestion live (all of them)
#
# One GPU: 2, 4 and 8 ranks on it over sockets (CUDA MPS), and behind links of a known rate (root and iproute2; IP=, TC= name the
# programs). Several GPUs: groups of 2, 4, 8 .. with every collective, forced algorithms, protocols and channels. Leaves clocks, MIG
# and NVLink multicast as they are, and no process behind. NCCL=FILE names the library. A part that fails is reported and the rest
# goes on; exit code 1 then.
set -u
collsim=$(readlink -f "$1") out=$2
shift 2
parts=${*:-facts copies gpus ranks shaped congestion live}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
failed=''
MAX=${MAX:-8G} # largest size between GPUs

wants() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
note() { echo "run.sh: $(date +%T) $*"; }
# step NAME COMMAND... : says how it ended; never ends the script.
step() {
  part=$1
  shift
  if "$@"; then note "$part: done"; else note "$part: FAILED ($?)"; failed="$failed $part"; fi
}

n_gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$n_gpus" -gt 0 ] || { echo "run.sh: nvidia-smi lists no GPU" >&2; exit 2; }
nccl=''
[ -z "${NCCL:-}" ] || nccl="--nccl $NCCL"
# Without a system-wide NCCL: that of a Python package.
if [ -z "$nccl" ] && ! ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2'; then
  found=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0] + "/lib/libnccl.so.2")' 2>/dev/null)
  [ -z "$found" ] || nccl="--nccl $found"
fi

# In the background and waited for, so that a signal to this script reaches it (its own children end with it).
child=''
tool() {
  "$collsim" "$@" &
  child=$!
  wait "$child"
}

# --- parts ---
facts() {
  date -u
  uname -a
  "$collsim" --version
  nvidia-smi -L
  nvidia-smi --query-gpu=driver_version,pcie.link.gen.current,pcie.link.width.current,clocks.sm,clocks.mem,mig.mode.current --format=csv
  nvidia-smi topo -m
  env | grep -E '^(NCCL|CUDA|TORCH|NVSHMEM)_' | sort
  echo "NCCL: ${nccl:-libnccl.so.2}"
}

# probe FILE TAG ARGUMENTS...
probe() {
  file=$1 tag=$2
  shift 2
  # shellcheck disable=SC2086  # words
  tool probe nccl $nccl --tag "$tag" -o "$out/$file.csv" --limit 240 "$@"
}

# A group of N GPUs: what NCCL chooses, then what it is told to. One process drives all (as the machine's floor is then the
# host's), and a process a GPU.
group() {
  n=$1
  probe "gpus$n-default" default -g "$n" -c all -b 8 -e "$MAX" --dump "$out/gpus$n-nccl"
  probe "gpus$n-single" single -g "$n" -c all_reduce,all_gather,reduce_scatter,alltoall,sendrecv -b 8 -e 256M --launch single
  for algo in Ring Tree; do
    for proto in LL LL128 Simple; do
      probe "gpus$n-$algo-$proto" "$algo-$proto" -g "$n" -c all_reduce -b 8 -e 1G -x NCCL_ALGO=$algo -x NCCL_PROTO=$proto
    done
  done
  for channels in 1 2 4 8 16 24; do
    probe "gpus$n-ch$channels" "Ring-Simple-ch$channels" -g "$n" -c all_reduce,all_gather,reduce_scatter -b 64K -e 1G -f 4 \
      -x NCCL_MIN_NCHANNELS=$channels -x NCCL_MAX_NCHANNELS=$channels -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple
  done
}

gpus() {
  n=2
  ok=0
  while [ "$n" -le "$n_gpus" ]; do
    group "$n" || ok=1
    n=$((n * 2))
  done
  return $ok
}

start_mps() {
  export CUDA_MPS_PIPE_DIRECTORY="$scratch/mps" CUDA_MPS_LOG_DIRECTORY="$scratch/mps-log"
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  nvidia-cuda-mps-control -d && mps=yes
}

# Several ranks on one GPU over loopback: NCCL takes each for a host.
ranks() {
  for n in 2 4 8; do
    tool probe sockets --ranks $n -o "$out/sockets$n.csv"
    probe "ranks$n" default -g 1 --ranks $n -c all_reduce,all_gather,reduce_scatter,broadcast,alltoall -b 8 -e 64M -f 8 -n 10 -w 3 --dump "$out/ranks$n-nccl"
  done
  probe ranks4-ring Ring-Simple -g 1 --ranks 4 -c all_reduce -b 8 -e 64M -f 8 -n 10 -w 3 -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple
  probe ranks4-tree Tree-Simple -g 1 --ranks 4 -c all_reduce -b 8 -e 64M -f 8 -n 10 -w 3 -x NCCL_ALGO=Tree -x NCCL_PROTO=Simple
}

shaped_rate() {
  rate=$1 n=$2
  shift 2
  "$here/netns.sh" rate 8 "$rate" &&
    tool probe sockets --ranks "$n" --netns csim -o "$out/shaped-$rate-sockets$n.csv" &&
    probe "shaped-$rate-ranks$n" "$rate" -g 1 --ranks "$n" --netns csim -b 64K -e 64M -f 4 -n 5 -w 1 "$@"
}

# with_netns PART: namespaces for as long as it runs. Their host ends would be network interfaces to a NCCL outside of them, and
# one that tries to talk through them hangs.
with_netns() {
  if [ "$(id -u)" != 0 ] || ! command -v "${IP:-ip}" >/dev/null; then
    note "$1: needs root and iproute2; left out"
    return 0
  fi
  netns=yes
  "$here/netns.sh" up 8 && "$1"
  ended=$?
  "$here/netns.sh" down 8
  netns=''
  return $ended
}

shaped() {
  shaped_rate 4gbit 4 -c all_reduce,all_gather,alltoall && shaped_rate 4gbit 2 -c all_reduce && shaped_rate 4gbit 8 -c all_reduce &&
    shaped_rate 8gbit 4 -c all_reduce,reduce_scatter
}

# live NAME ARGUMENTS... : predictions, then runs, with the shipped catalogue and with constants from copies and sockets.
live() {
  name=$1
  shift
  # shellcheck disable=SC2086  # words
  tool validate --live "$out/live-$name" --calibrate "$out/live-$name-constants.json" $nccl -o "$out/live-$name.txt" "$@"
}

live_gpus() {
  ok=0
  live "gpus$n_gpus" -c all -b 8 -e "$MAX" --forced || ok=1
  live "gpus$n_gpus-single" -c all_reduce,all_gather,reduce_scatter,alltoall,sendrecv -b 8 -e 256M --launch single || ok=1
  n=2
  while [ "$n" -lt "$n_gpus" ]; do
    live "gpus$n" -g "$n" -c all -b 8 -e "$MAX" || ok=1
    n=$((n * 2))
  done
  return $ok
}

# What TCP's congestion control is worth: the same collectives on the same links under each that the kernel has (those whose module
# can't be loaded are named). Algorithms where several flows meet at a port feel it, a ring does not.
congestion() {
  "$here/netns.sh" rate 8 4gbit || return 1
  for control in $(cat /proc/sys/net/ipv4/tcp_available_congestion_control); do
    "$here/netns.sh" control 8 "$control" 2>/dev/null || { note "congestion: no $control here"; continue; }
    for algo in Ring Tree; do
      probe "congestion-$control-$algo" "$control $algo" -g 1 --ranks 4 --netns csim -c all_reduce -b 16M -e 64M -f 4 -n 3 -w 1 \
        -x NCCL_ALGO=$algo -x NCCL_PROTO=Simple || return 1
    done
    probe "congestion-$control-alltoall" "$control" -g 1 --ranks 4 --netns csim -c alltoall -b 16M -e 64M -f 4 -n 3 -w 1 || return 1
  done
}

live_ranks() {
  for n in 2 4 8; do
    live "ranks$n" -g 1 --ranks $n -b 8 -e 64M -f 4 -n 10 -w 3 || return 1
  done
}

live_shaped_rate() {
  rate=$1 unit=$2 n=$3
  shift 3
  "$here/netns.sh" rate 8 "$rate" &&
    live "shaped-$rate-ranks$n" -g 1 --ranks "$n" --netns csim --link-rate "$unit" -b 64K -e 64M -f 4 -n 5 -w 1 "$@"
}

live_shaped() {
  live_shaped_rate 4gbit 4Gb/s 2 && live_shaped_rate 4gbit 4Gb/s 4 --forced && live_shaped_rate 4gbit 4Gb/s 8 &&
    live_shaped_rate 8gbit 8Gb/s 4
}

scratch=$(mktemp -d)
mps='' netns=''
cleanup() {
  [ -z "$child" ] || kill "$child" 2>/dev/null
  [ -z "$mps" ] || echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
  [ -z "$netns" ] || "$here/netns.sh" down 8
  rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

wants facts && step facts facts >"$out/facts.txt" 2>&1
wants copies && step copies tool probe copies -o "$out/copies.csv"
if [ "$n_gpus" -gt 1 ]; then
  wants gpus && step gpus gpus
  wants live && step live-gpus live_gpus
elif wants ranks || wants shaped || wants congestion || wants live; then
  step mps start_mps
  wants ranks && step ranks ranks
  wants shaped && step shaped with_netns shaped
  wants congestion && step congestion with_netns congestion
  wants live && step live-ranks live_ranks
  wants live && step live-shaped with_netns live_shaped
fi
[ -z "$failed" ] || { note "failed:$failed"; exit 1; }
