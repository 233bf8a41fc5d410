#!/bin/bash
# SPDX-License-Identifier: MIT
# CPython's own tests (their package: `tools/deps.sh suites`) with and without the
# library: every test has the same result.
#	B=build ENGINE=perf tests/suites/python.sh [MODULE...]
# ENGINE=sim: of the modules that ask most of a system, with ten times as long for each.
set -u
library=$(realpath "${B:-build}/libcachepeek.so")
here=$(realpath "$(dirname "$0")")
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
engine=${ENGINE:-perf}
limit=600
[ "$engine" != sim ] || limit=6000
[ $# -gt 0 ] || [ "$engine" != sim ] || set -- test_threading test_signal test_subprocess test_os test_mmap \
	test_multiprocessing_fork test_socket
[ $# -gt 0 ] || set -- test_subprocess test_threading test_thread test_multiprocessing_fork \
	test_multiprocessing_spawn test_multiprocessing_forkserver test_signal test_os test_socket \
	test_posix test_fork1 test_wait3 test_wait4 test_faulthandler test_concurrent_futures \
	test_asyncio test_pty test_resource test_select test_selectors test_mmap test_io test_file \
	test_ctypes test_threadsignals test_threading_local test_time test_tempfile test_shutil

"$python" -c 'import test.support, test.test_os' 2> /dev/null ||
	{ echo "python.sh: no tests of Python here (tools/deps.sh suites installs them)"; exit 77; }

# NAME MODULE [VARIABLE=VALUE...]: its results to NAME.xml.  VSOCK needs a host that
# answers: in many virtual machines it waits for ever, without the library too.
run()
{
	local name=$1 module=$2
	shift 2
	(mkdir -p "$work/$name" && cd "$work/$name" &&
		timeout $limit env "$@" "$python" -m test --timeout $((limit / 2)) --ignore '*VSOCK*' --junit-xml="$work/$name.xml" \
			"$module" < /dev/null > "$work/$name.log" 2>&1)
}

compare()
{
	run alone "$1" PYTHONHASHSEED=0
	run with "$1" PYTHONHASHSEED=0 LD_PRELOAD="$library" CACHEPEEK_ENGINE="$engine" \
		"$([ "$engine" = perf ] && echo CACHEPEEK_EVENTS=perf::PAGE-FAULTS || echo CACHEPEEK_EVENTS=instructions)" \
		CACHEPEEK_OUTPUT="$work/report.json" \
		CACHEPEEK_DIR="$work/run"
	"$python" "$here/compare.py" "$work/alone.xml" "$work/with.xml"
}

failed=0
for module; do
	rm -rf "$work"/*
	# Some of these tests depend on time: what differs has to differ twice.
	result=$(compare "$module") || result=$(compare "$module") || failed=$((failed + 1))
	echo "$module: $result"
done
echo "python.sh: $engine: $failed modules differ"
[ "$failed" -eq 0 ]
