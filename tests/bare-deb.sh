#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian packages on a Debian 12 that has nothing else: installed by
# apt-get, the README's line from another directory, the command, a program
# built with the header, and a purge that leaves nothing.  For developers, as
# root, after `make deb`; takes a minute and 500 MB.
#	tests/bare-deb.sh DIRECTORY [MIRROR]
set -eu
[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$1
mirror=${2:-}
source=$(realpath "$(dirname "$0")/..")
here=$(mktemp -d)

command -v debootstrap > /dev/null || apt-get install -y --no-install-recommends debootstrap
if [ ! -e "$root/.bare-made" ]; then
	debootstrap --variant=minbase --include=ca-certificates bookworm "$root" $mirror
	touch "$root/.bare-made"
fi
# The folder asks for packages the way this machine does.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2> /dev/null || true
cp /etc/resolv.conf "$root/etc/resolv.conf" 2> /dev/null || true

mounts=(proc sys dev)
leave()
{
	for mount in "${mounts[@]}"; do
		mountpoint -q "$root/$mount" && umount -l "$root/$mount"
	done
	rm -rf "$here"
	return 0
}
trap leave EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys"
mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"

in_root() { chroot "$root" env -i HOME=/tmp/home TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"; }

# Everything but the package manager's own books, and the loader's cache.
everything()
{
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log \
		-o -path ./run \) -prune -o -print | grep -v '^./etc/ld.so.cache$' | sort)
}

failed=0
try()
{
	echo "=== $*"
	"$@" || { failed=$((failed + 1)); echo "=== failed: $*"; }
}

in_root apt-get -q update
in_root dpkg --purge cachepeek libcachepeek-dev 2> /dev/null || true
rm -rf "$root/tmp/home" "$root/tmp/debs"
mkdir -p "$root/tmp/home" "$root/tmp/debs"
cp "$source"/build/*.deb "$root/tmp/debs/"
everything > "$here/before"
try in_root sh -c 'apt-get -q -y install --no-install-recommends /tmp/debs/*.deb'
for directory in / /tmp /usr/share; do
	try in_root sh -c "cd $directory && LD_PRELOAD=libcachepeek.so ls / 2>&1 > /dev/null | grep -q 'whole run'"
done
try in_root sh -c 'cd /tmp && cachepeek -E sim -e instructions -o /tmp/r.json ls / > /dev/null && grep -q cachepeek-report/1 /tmp/r.json'
try in_root sh -c 'cachepeek report > /dev/null && cachepeek doctor > /dev/null && cachepeek list groups > /dev/null'
# Programs and processes that are not the user's, with and without descriptors.
try in_root sh -c 'cd / && LD_PRELOAD=libcachepeek.so sh -c "ls | cat" 2>&1 > /dev/null | grep -q "processes"'
# With the libraries that came only for it.
try in_root apt-get -q -y purge --autoremove cachepeek libcachepeek-dev
everything > "$here/after"
try diff "$here/before" "$here/after"
try sh -c "! ls $root/var/lib/dpkg/info | grep cachepeek"
echo "bare-deb.sh: $failed failed"
[ "$failed" -eq 0 ]
