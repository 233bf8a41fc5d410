#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian packages on a Debian that has nothing else: installed by
# apt-get, the README's line from another directory, the command, a program
# built with the header, and a purge that leaves nothing.  For developers, as
# root, after `make deb`; takes a minute and 500 MB.
#	tests/bare-deb.sh SUITE DIRECTORY [MIRROR]
set -eu
[ $# -ge 2 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
. "$(dirname "$0")/folder.sh"

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
folder "$1" "$2" "${3:-}" ca-certificates
folder_home=/tmp/home

# Everything but the package manager's own books, and the loader's cache.
everything()
{
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log \
		-o -path ./run \) -prune -o -print | grep -v '^./etc/ld.so.cache$' | sort)
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
echo "bare-deb.sh: $1: $failed failed"
[ "$failed" -eq 0 ]
