#!/bin/bash
# SPDX-License-Identifier: MIT
# The stressors of stress-ng's classes (`tools/deps.sh suites` installs it), a second each:
# alone, and with the library on both engines.  What fails with the library and not alone,
# twice, is a defect.
#	B=build tests/suites/stress-ng.sh [STRESSOR...]
# As root they run as nobody: some change the machine that they run on.
# Three differ as cachepeek-differences(7) says: signal 64 is taken, a child that is no thread
# shares no memory, and the simulator has none within the limit of a program.
set -u
library=$(realpath "${B:-build}/libcachepeek.so")
command -v stress-ng > /dev/null || { echo "stress-ng.sh: no stress-ng here (tools/deps.sh suites installs it)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -RL "$library" "$(dirname "$library")/libcachepeek" "$work"
chmod -R go+rX "$work" && mkdir -m 1777 "$work/tmp"
user=()
[ "$(id -u)" != 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)

classes=(cpu cpu-cache memory scheduler os pipe vm interrupt)
of_classes()
{
	for class in "${classes[@]}"; do
		stress-ng --class "$class?" | sed 's/.*stressors: //' | tr ' ' '\n'
	done | sort -u
}
[ $# -gt 0 ] || mapfile -t list < <(of_classes)
[ $# -eq 0 ] || list=("$@")

# run ENGINE STRESSOR: its status; what it said is in $work/ENGINE.log.  Simulated
# starts take longer than a second, so that there is a limit, too.
run()
{
	local engine=$1 with=()
	[ "$engine" = alone ] || with=(LD_PRELOAD="$work/libcachepeek.so" CACHEPEEK_ENGINE="$engine"
		CACHEPEEK_OUTPUT="$work/tmp/report-%p.json" CACHEPEEK_DIR="$work/tmp/$engine")
	[ "$engine" != perf ] || with+=(CACHEPEEK_EVENTS=perf::PAGE-FAULTS)
	(cd "$work/tmp" && exec timeout -k 10 180 "${user[@]}" env "${with[@]}" \
		stress-ng "--$2" 1 -t 1 --temp-path "$work/tmp" < /dev/null) > "$work/$engine.log" 2>&1
	local status=$?
	rm -rf "$work/tmp/"*
	return $status
}

# compare STRESSOR: a word for each engine.
compare()
{
	local alone engine differs=0
	run alone "$1"
	alone=$?
	printf '%s: %d' "$1" $alone
	[ $alone -lt 124 ] || { echo ', alone: left out'; return 0; }
	for engine in perf sim; do
		run $engine "$1"
		status=$?
		printf ' %s %d' $engine $status
		[ $status = $alone ] || { differs=1; cp "$work/$engine.log" "$work/differs-$engine"; }
	done
	echo
	return $differs
}

differs=' sigrt vm-rw rlimit '
failed=()
for stressor in "${list[@]}"; do
	rm -f "$work"/differs-*
	# Some depend on time and on what else runs: what differs has to differ twice.
	compare "$stressor" || compare "$stressor" || [[ $differs = *" $stressor "* ]] || {
		failed+=("$stressor")
		tail -n 12 "$work"/differs-* 2> /dev/null
	}
done
echo "stress-ng.sh: ${#list[@]} stressors, ${#failed[@]} differ${failed:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
