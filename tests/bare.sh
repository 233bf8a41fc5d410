#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's two commands on a Debian 12 that has only git and make: in a
# folder made by debootstrap, as root there, first with the network and then
# without it.  For developers, as root; takes some minutes and 1 GB.
#	tests/bare.sh DIRECTORY [MIRROR]
set -eu
[ $# -ge 1 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$1
mirror=${2:-}
source=$(realpath "$(dirname "$0")/..")

command -v debootstrap > /dev/null || apt-get install -y --no-install-recommends debootstrap
if [ ! -e "$root/.bare-made" ]; then
	debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" $mirror
	touch "$root/.bare-made"
fi
# The folder asks for packages the way this machine does.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2> /dev/null || true
cp /etc/resolv.conf "$root/etc/resolv.conf" 2> /dev/null || true

mounts=(proc sys dev/pts dev)
unmount()
{
	for mount in "${mounts[@]}"; do
		mountpoint -q "$root/$mount" && umount -l "$root/$mount"
	done
	return 0
}
trap unmount EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys"
mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
mountpoint -q "$root/dev/pts" || mount --bind /dev/pts "$root/dev/pts"

rm -rf "$root/root/cachepeek"
git clone -q "$source" "$root/root/cachepeek"
in_root() { chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"; }
missing=$(in_root sh -c 'command -v gcc prove valgrind || true')
[ -z "$missing" ] || echo "bare.sh: not a bare folder any more: $missing"

failed=0
try()
{
	echo "=== $*"
	"$@" || { failed=$((failed + 1)); echo "=== failed: $*"; }
}
try in_root make -C /root/cachepeek demo
try in_root make -C /root/cachepeek check
try unshare -n chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin make -C /root/cachepeek demo
try unshare -n chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin make -C /root/cachepeek check
# The user's line, after a real installation, from another directory.
try in_root make -C /root/cachepeek install
try in_root sh -c 'cd /tmp && LD_PRELOAD=libcachepeek.so CACHEPEEK_OUTPUT=/tmp/r.json ls / > /dev/null && grep -q cachepeek-report/1 /tmp/r.json'
echo "bare.sh: $failed failed"
[ "$failed" -eq 0 ]
