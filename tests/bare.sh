#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's two commands on a Debian that has only git and make: in a
# folder made by debootstrap, as root there, first with the network and then
# without it.  For developers, as root; takes an hour or two and 2 GB.
#	tests/bare.sh SUITE DIRECTORY [MIRROR]      SUITE: bookworm, trixie, forky (testing)
set -eu
[ $# -ge 2 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
. "$(dirname "$0")/folder.sh"

folder "$1" "$2" "${3:-}" git,make,ca-certificates
clone_into_folder
missing=$(in_root sh -c 'command -v gcc prove valgrind || true')
[ -z "$missing" ] || echo "bare.sh: not a bare folder any more: $missing"

try in_root make -C /root/cachepeek demo
try in_root make -C /root/cachepeek check
try without_network make -C /root/cachepeek demo
try without_network make -C /root/cachepeek check
# The user's line, after a real installation, from another directory.
try in_root make -C /root/cachepeek install
try in_root sh -c 'cd /tmp && LD_PRELOAD=libcachepeek.so CACHEPEEK_OUTPUT=/tmp/r.json ls / > /dev/null && grep -q cachepeek-report/1 /tmp/r.json'
echo "bare.sh: $1: $failed failed"
[ "$failed" -eq 0 ]
