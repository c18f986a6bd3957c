#!/bin/sh
# The guest's only process: two soft-RoCE devices on one veth pair, then the probe on them. Lines between markers are for check.py.
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in crc32_generic rdma_rxe ib_uverbs veth; do modprobe $module; done
# busybox has an ip of its own, which drops "peer name": the real ones by their paths.
for folder in /usr/bin /usr/sbin /sbin; do
  [ -x $folder/ip ] && ip=$folder/ip
  [ -x $folder/rdma ] && rdma=$folder/rdma
done
$ip link set lo up
$ip link add v0 type veth peer name v1
for i in 0 1; do
  echo 1 >/proc/sys/net/ipv4/conf/v$i/accept_local
  $ip link set v$i mtu 4200
  $ip addr add 10.9.0.$((i + 1))/24 dev v$i
  $ip link set v$i up
  $rdma link add rxe$i type rxe netdev v$i
done
for _ in $(seq 1 100); do
  grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state && grep -q ACTIVE /sys/class/infiniband/rxe1/ports/1/state && break
  sleep 0.1
done

# part NAME COMMAND... : its output between markers, then its exit code.
part() {
  name=$1
  shift
  echo "BEGIN $name"
  "$@" 2>&1
  echo "END $name $?"
}
part two-devices collsim probe verbs --device rxe0 --peer-device rxe1 -b 8 -e 32K -f 64 -n 60
part one-device collsim probe verbs --device rxe0 -b 1K -e 1K -n 40
part many-queues collsim probe verbs --device rxe0 --peer-device rxe1 --tests write_bw,read_bw,send_bw -b 16K -e 16K -n 60 --qps 4 --depth 4 --mtu 1024
part inline collsim probe verbs --device rxe0 --peer-device rxe1 --tests write_bw,send_lat --inline 64 -b 64 -e 64 -n 40
collsim probe verbs --device rxe1 --listen 18515 --tests write_bw -b 4K -e 4K -n 40 &
sleep 1
part tcp collsim probe verbs --device rxe0 --connect 10.9.0.2:18515 --tests write_bw,send_bw -b 4K -e 4K -n 40
part no-device collsim probe verbs --device mlx5_0
part bad-gid collsim probe verbs --device rxe0 --gid-index 99
echo GUEST_DONE
poweroff -f
