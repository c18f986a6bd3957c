#!/bin/sh
# The verbs probe on real ibverbs: a Debian kernel with soft-RoCE (rdma_rxe) in a QEMU guest, software emulation is enough.
#   run.sh COLLSIM WORK_FOLDER        WORK_FOLDER keeps the kernel package and the base image between runs
# Opt-in (COLLSIM_VERBS_VM=1, as ./dev verbs-vm sets it): fetches a kernel package of 70 MB. Skipped without it or without
# the programs. TAP; speaks of completion, content and counters, never of a rate: the CPU is emulated.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
collsim=$(readlink -f "$1") work=$2
[ -n "${COLLSIM_VERBS_VM:-}" ] || { echo "1..0 # SKIP opt-in: COLLSIM_VERBS_VM=1"; exit 0; }
PATH=$PATH:/sbin:/usr/sbin
for program in qemu-system-x86_64 busybox cpio depmod modprobe apt-get dpkg ip rdma; do
  command -v "$program" >/dev/null || { echo "1..0 # SKIP no $program"; exit 0; }
done
mkdir -p "$work"
cd "$work"

# --- the kernel: the one that Debian's metapackage names today ---
kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }')
if [ ! -d "kernel/$kernel" ]; then
  rm -rf kernel base.img
  mkdir -p "kernel/$kernel"
  apt-get download -q "$kernel" >&2
  dpkg -x "$kernel"_*.deb "kernel/$kernel"
  rm -f "$kernel"_*.deb
fi
tree=$PWD/kernel/$kernel
version=$(ls "$tree/lib/modules")
[ -f "$tree/lib/modules/$version/modules.dep" ] || depmod -b "$tree" "$version"

# copy FOLDER PROGRAM... : each with the libraries that it needs, at the same paths.
copy() {
  root=$1
  shift
  for program in "$@"; do
    for file in "$program" $(ldd "$program" 2>/dev/null | grep -oE '/[^ )]+'); do
      mkdir -p "$root$(dirname "$file")"
      [ -e "$root$file" ] || cp -L "$file" "$root$file"
    done
  done
}

# --- base image: busybox, iproute2, libibverbs with rxe's provider, modules ---
# crc32_generic: nothing depends on it by name, and rdma_rxe fails without it.
make_base() {
  root=$(mktemp -d)
  chmod 755 "$root"
  mkdir -p "$root/dev" "$root/proc" "$root/sys" "$root/tmp" "$root/bin" "$root/etc/libibverbs.d" "$root/lib/modules/$version"
  cp "$(command -v busybox)" "$root/bin/busybox"
  for applet in sh mount modprobe cat sleep poweroff grep sed seq mkdir; do ln -s busybox "$root/bin/$applet"; done
  provider=$(find /usr/lib -name 'librxe-rdmav*.so' | head -n 1)
  verbs=$(ldconfig -p | awk '/libibverbs.so.1/ { print $NF; exit }')
  if [ -z "$provider" ] || [ -z "$verbs" ]; then
    echo "1..0 # SKIP no soft-RoCE provider (ibverbs-providers)"
    exit 0
  fi
  copy "$root" "$(command -v ip)" "$(command -v rdma)" "$provider" "$verbs"
  cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
  for module in crc32_generic rdma_rxe ib_uverbs veth; do
    modprobe -d "$tree" -S "$version" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
  done | sort -u | while read -r file; do
    target=$root/${file#"$tree"/}
    mkdir -p "$(dirname "$target")"
    cp "$file" "$target"
  done
  cp "$tree/lib/modules/$version"/modules.builtin* "$tree/lib/modules/$version/modules.order" "$root/lib/modules/$version/"
  depmod -b "$root" "$version"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >base.img.new
  mv base.img.new base.img
  rm -rf "$root"
}
[ -f base.img ] || make_base

# --- this run: the program and what the guest does, as a second archive behind the base ---
extra=$(mktemp -d)
trap 'rm -rf "$extra"' EXIT
chmod 755 "$extra"
copy "$extra" "$collsim"
mkdir -p "$extra/bin"
cp "$collsim" "$extra/bin/collsim"
install -m 755 "$here/init.sh" "$extra/init"
(cd "$extra" && find . | cpio -o -H newc --quiet | gzip -1) | cat base.img - >run.img

# QEMU's exit code says nothing of the guest; its last line does.
timeout "${TIMEOUT:-240}" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 768 -nographic -no-reboot \
  -nic none -kernel "$tree/boot/vmlinuz-$version" -initrd run.img -append 'console=ttyS0 quiet panic=-1' \
  </dev/null >console.log 2>&1 || true
tr -d '\r' <console.log | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >guest.log
exec python3 "$here/check.py" guest.log
