#!/bin/sh
# Network namespaces with links of a known rate, for ranks of one machine (root; iproute2).
#   netns.sh up N        csim0 .. csim(N-1), each with an interface e0 (10.77.0.x, MTU 9000) on one bridge
#   netns.sh rate N R    token buckets of rate R (4gbit; "none": as fast as memory) on both ends of every link
#   netns.sh control N C TCP's congestion control in each of them (bbr; those of tcp_available_congestion_control)
#   netns.sh down N      takes all of it away
# IP and TC name the programs where they are not on the path.
set -eu
ip=${IP:-ip} tc=${TC:-tc}
verb=$1 n=$2

up() {
  $ip link add csimbr type bridge
  $ip addr add 10.77.0.254/24 dev csimbr
  $ip link set csimbr up
  for i in $(seq 0 $((n - 1))); do
    $ip netns add "csim$i"
    $ip link add "csimv$i" type veth peer name e0 netns "csim$i"
    $ip link set "csimv$i" master csimbr mtu 9000 up
    $ip -n "csim$i" addr add "10.77.0.$((i + 1))/24" dev e0
    $ip -n "csim$i" link set e0 mtu 9000 up
    $ip -n "csim$i" link set lo up
  done
}

# The bucket holds 256 kB: less and the kernel's timer, not the rate, decides.
rate() {
  for i in $(seq 0 $((n - 1))); do
    "$tc" qdisc del dev "csimv$i" root 2>/dev/null || true
    $ip netns exec "csim$i" "$tc" qdisc del dev e0 root 2>/dev/null || true
    [ "$1" = none ] && continue
    "$tc" qdisc add dev "csimv$i" root tbf rate "$1" burst 256kb latency 50ms
    $ip netns exec "csim$i" "$tc" qdisc add dev e0 root tbf rate "$1" burst 256kb latency 50ms
  done
}

control() {
  for i in $(seq 0 $((n - 1))); do
    $ip netns exec "csim$i" sh -c "echo $1 >/proc/sys/net/ipv4/tcp_congestion_control" || return 1
  done
}

down() {
  for i in $(seq 0 $((n - 1))); do
    $ip link del "csimv$i" 2>/dev/null || true
    $ip netns del "csim$i" 2>/dev/null || true
  done
  $ip link del csimbr 2>/dev/null || true
}

case $verb in
up) up ;;
rate) rate "$3" ;;
control) control "$3" ;;
down) down ;;
*) echo "netns.sh: up N, rate N RATE, control N NAME or down N" >&2; exit 2 ;;
esac
