#!/bin/bash
# SPDX-License-Identifier: MIT
# The test suite of a Debian source package that uses automake, with and without
# the library: `make check` says the same of each test.  Needs the network, for
# apt-get source (with a list of sources of its own).
#	B=build tests/suites/debian.sh [PACKAGE [DIRECTORY]]	(xz-utils, a temporary one)
set -u
library=$(realpath "${B:-build}/libcachepeek.so")
package=${1:-xz-utils}
work=${2:-$(mktemp -d)}
mkdir -p "$work/source" "$work/apt/lists/partial" "$work/apt/sources.list.d"
work=$(realpath "$work")
[ $# -gt 1 ] || trap 'rm -rf "$work"' EXIT

sources()
{
	apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/sources.list.d" \
		-o Dir::State::Lists="$work/apt/lists" -o APT::Sandbox::User= "$@"
}

fetch()
{
	local uri
	uri=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${uri:-http://deb.debian.org/debian} bookworm main" > "$work/apt/sources.list.d/source.list"
	(cd "$work/source" && sources update && sources source --download-only "$package") > "$work/fetch.log" 2>&1 &&
		tar -xf "$work"/source/*.orig.tar.[gx]z -C "$work/source" --strip-components=1
}

build()
{
	(cd "$work/source" && ./configure --disable-dependency-tracking && make -j2) > "$work/build.log" 2>&1
}

# What became of each test, in NAME.results.
check()
{
	local name=$1
	shift
	(cd "$work/source" && env "$@" timeout 1200 make -k check < /dev/null > "$work/$name.log" 2>&1)
	grep -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ' "$work/$name.log" | sort > "$work/$name.results"
}

if [ ! -e "$work/built" ]; then
	fetch || { echo "debian.sh: no source of $package here"; tail -n 2 "$work/fetch.log"; exit 77; }
	build || { echo "debian.sh: $package does not build here"; tail -n 5 "$work/build.log"; exit 77; }
	touch "$work/built"
fi
check alone A=1
check with LD_PRELOAD="$library" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS \
	CACHEPEEK_OUTPUT="$work/report.json" CACHEPEEK_DIR="$work/run"
echo "$package: $(wc -l < "$work/alone.results") tests, $(grep -c ^PASS "$work/alone.results") pass;" \
	"processes counted: $(ls "$work/run" | grep -c 'rec$')"
[ -s "$work/alone.results" ] && diff "$work/alone.results" "$work/with.results"
