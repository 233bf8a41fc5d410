#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes tests/fuzz/seeds/record afresh, where the format of records has changed.
# As root: so that no path and no name of this machine is in them, the programs
# run from a directory of their own in /usr/local/bin, on a host named host.
#	B=build tests/fuzz/record-seeds.sh
set -eu
build=$(realpath "${B:-build}")
seeds=$(realpath "$(dirname "$0")/seeds/record")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cp "$build"/tests/programs/region_pages "$build"/tests/programs/region_short "$work/bin"

# NAME VARIABLE=VALUE... PROGRAM ARGUMENT...: all of the record that is used.
seed()
{
	name=$1
	shift
	unshare --uts --mount sh -c 'hostname host; mount --bind "$1" /usr/local/bin; shift; exec "$@"' sh \
		"$work/bin" env -i LD_PRELOAD="$build/libcachepeek.so" CACHEPEEK_OUTPUT=/dev/null \
		CACHEPEEK_DIR="$work/$name" "$@" > /dev/null 2>&1
	record=$(ls "$work/$name"/*.rec)
	# The tail is a word of the header, behind 8 bytes and 14 half words.
	head -c "$(od -A n -t u8 -j 64 -N 8 "$record")" "$record" > "$seeds/$name"
}

seed none CACHEPEEK_ENGINE=perf CACHEPEEK_GROUPS=cache /usr/local/bin/region_pages 10 1
seed perf CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS,nonsense /usr/local/bin/region_pages 10 1
seed sim CACHEPEEK_ENGINE=sim CACHEPEEK_GROUPS=cache /usr/local/bin/region_pages 10 1
seed sparse CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS CACHEPEEK_SPARSE=1 \
	/usr/local/bin/region_short 500 0
seed sampled CACHEPEEK_ENGINE=sim CACHEPEEK_SAMPLE=fast CACHEPEEK_EVENTS=l2_misses,instructions /usr/local/bin/region_pages 10 1
