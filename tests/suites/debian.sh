#!/bin/bash
# SPDX-License-Identifier: MIT
# The test suites of Debian source packages, alone and with the library: each test has
# the same result.  tests/suites/packages/NAME.sh says how to build and run one.
#	B=build WORK=DIR ENGINES='perf sim' LIMIT=SECONDS tests/suites/debian.sh [NAME...]	(all of them)
# SUITE='make check TESTS=...' runs a part of one.
# WORK keeps what was fetched and built, and the logs; without it they are temporary.
# Needs the network for the sources.  The suites themselves see loopback only, and their
# processes end with them (as root: a network and a pid namespace, and the user nobody).
set -u
here=$(realpath "$(dirname "$0")")
library=$(realpath "${B:-build}/libcachepeek.so")
[ -n "${WORK-}" ] || trap 'rm -rf "$work"' EXIT
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
work=$(realpath "$work")
chmod 755 "$work"
# A result that differs has to differ in as many runs.
rounds=3

. "$here/fetch.sh"

# COMMAND... without rights, without the network, and not for longer than LIMIT seconds.
bounded()
{
	if [ "$(id -u)" = 0 ]; then
		unshare --net --pid --fork --kill-child --mount-proc sh -c \
			'ip link set lo up; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' - \
			timeout --kill-after=10 "$limit" "$@"
	else
		timeout --kill-after=10 "$limit" "$@"
	fi
}

# Runs each test; its outcome is in RUN.results: lines of OUTCOME NAME.
run()
{
	local label=$1 home="$top/home"
	shift
	rm -rf "$top/source" "$home"
	cp -a "$top/built" "$top/source"
	mkdir -p "$home/tmp" "$home/cache"
	[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$home"
	(cd "$top/source" && bounded env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C TZ=UTC0 \
		HOME="$home" TMPDIR="$home/tmp" XDG_CACHE_HOME="$home/cache" USER=nobody LOGNAME=nobody SHELL=/bin/bash \
		"$@" bash -c "$suite" < /dev/null > "$top/$label.log" 2>&1)
	echo "exit status $?" >> "$top/$label.log"
	[ ! -e "$home/report.txt" ] || cp "$home/report.txt" "$top/$label.report.txt"
	(cd "$top/source" && results < "$top/$label.log") | sort -u > "$top/$label.results"
}

run_with()
{
	local engine=$1 round=$2
	local events=perf::PAGE-FAULTS
	[ "$engine" = perf ] || events=instructions
	run "$engine.$round" LD_PRELOAD="$library" CACHEPEEK_ENGINE="$engine" CACHEPEEK_EVENTS="$events" \
		CACHEPEEK_OUTPUT="$top/home/report.txt"
}

# Most print what automake prints.
results()
{
	sed -nE 's/^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): */\1 /p'
}

compare()
{
	local engine=$1 round
	rm -f "$top/$engine".*
	for round in $(seq $rounds); do
		[ -e "$top/alone.$round.results" ] || run alone.$round
		run_with "$engine" "$round"
		"$here/runs.py" "$top" "$engine" > "$top/$engine.compared" && break
	done
	echo "$name $(sed 1q "$top/$engine.compared")"
	sed 1d "$top/$engine.compared"
}

one_suite()
{
	local name=$1 package=$1 limit=1200 engines=perf suite='make -k check' engine
	local top="$work/$name"
	. "$here/packages/$name.sh"
	limit=${LIMIT:-$limit}
	suite=${SUITE:-$suite}
	mkdir -p "$top"
	build || return 1
	rm -f "$top"/alone.*.results
	for engine in $engines; do
		case " ${ENGINES:-perf sim} " in *" $engine "*) compare "$engine" ;; esac
	done
}

[ $# -gt 0 ] || set -- $(cd "$here/packages" && ls | sed 's/\.sh$//')
for name; do
	(one_suite "$name")
done
