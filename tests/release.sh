#!/bin/bash
# SPDX-License-Identifier: MIT
# Targets of make on another release of Debian than this one, in a folder made by
# debootstrap, with the packages of these groups of tools/deps.sh.  For CI, as root.
#	tests/release.sh SUITE DIRECTORY GROUPS [TARGET…]      GROUPS: "build check"
set -eu
[ $# -ge 3 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
. "$(dirname "$0")/folder.sh"

folder "$1" "$2" '' git,make,ca-certificates
suite=$1 groups=$3
shift 3
clone_into_folder
begin=$SECONDS
in_root sh /root/cachepeek/tools/deps.sh $groups > "$root/root/packages.log" 2>&1 ||
	{ tail -n 30 "$root/root/packages.log"; echo "release.sh: $suite: its packages cannot be had" >&2; exit 1; }
echo "=== packages: $((SECONDS - begin)) s"
for target; do
	try in_root make -C /root/cachepeek -j"$(nproc)" CI="${CI:-}" "$target"
done
echo "release.sh: $suite: $failed failed"
[ "$failed" -eq 0 ]
