#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The cost of string instructions under the simulated PMU: user seconds of rep movsb and rep
# stosb, of SIZES bytes, as one instruction and as one for each byte, without those that
# it takes to start, and the second divided by the first.  In caches of these sizes what
# misses costs the same in both.
# Usage: strings.sh; BYTES (of each row) is 256 MiB.
set -u
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || exit 0
B=${B:-build}
BYTES=${BYTES:-268435456}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

cat >"$WORK/strings.c" <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
	size_t size = strtoul(argv[2], NULL, 0);
	char *from = aligned_alloc(4096, size), *to = aligned_alloc(4096, size);

	for (long i = atol(argv[3]); i > 0; i--) {
		char *s = from, *d = to;
		size_t n = size;

		if (argv[1][0] == 'm')
			__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		else
			__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
	}
	return argc != 4;
}
END
${CC:-cc} -O1 -o "$WORK/strings" "$WORK/strings.c"
sed '/^string-instructions/d' base/machines/cachegrind.machine >"$WORK/whole.machine"
cp base/machines/cachegrind.machine "$WORK/each.machine"

# The least of three.
seconds()
{
	for _ in 1 2 3; do
		LC_ALL=C bash -c 'TIMEFORMAT=%U; time "$@" >/dev/null 2>&1' bash "$B/cachepeek" -E sim -m "$@" 2>&1 | tail -1
	done | sort -n | head -1
}

printf '%-6s %10s %8s %8s %7s\n' instr bytes whole each ratio
for what in movs stos; do
	for size in ${SIZES:-1024 16384 262144 4194304 67108864}; do
		rounds=$((BYTES / size)) times=()
		for how in whole each; do
			times+=("$(seconds "$WORK/$how.machine" -e instructions -o /dev/null "$WORK/strings" $what $size $rounds)"
				"$(seconds "$WORK/$how.machine" -e instructions -o /dev/null "$WORK/strings" $what $size 0)")
		done
		echo "${times[@]}" | awk -v what=$what -v size=$size '{ a = $1 - $2; b = $3 - $4
			printf("%-6s %10d %8.2f %8.2f %7.1f\n", what, size, a, b, a > 0 ? b / a : 0) }'
	done
done
