#!/bin/sh
# SPDX-License-Identifier: MIT
# Gates of CACHEPEEK_ENGINE=shadow: what it takes of the program's CPU time, how many windows
# are counted, and L1D misses beside full simulation (SHADOW_TRUTH=1: takes 10 to 50 times
# as long).  Run it on a machine that does nothing else, with two CPUs or more.
#
#   tests/bench/shadow.sh [DIRECTORY]
set -eu

build=$(realpath "${B:-build}")
scratch=${1:-$(mktemp -d)}
runs=${SHADOW_RUNS:-3}

head -c 120000000 /dev/urandom | od -An -tx1 | head -c 120000000 > "$scratch/data"
seq 1 2500000 | awk '{ print $1 * 7919 % 2500009 }' > "$scratch/numbers"

# User and system time of a command, in s: the least of some runs.  A shadow's own time is
# that of a child: wait's accounts would have it, so the report of the process is asked.
cpu_of() {
	least=
	for run in $(seq "$runs"); do
		# ru_utime + ru_stime of the process itself, without children
		took=$(python3 - "$@" <<'P'
import os, sys
pid = os.fork()
if pid == 0:
    null = os.open('/dev/null', os.O_RDWR)
    os.dup2(null, 0); os.dup2(null, 1); os.dup2(null, 2)
    os.execvp(sys.argv[1], sys.argv[1:])
# Before it is reaped: its own clock, and not that of the children it has reaped.
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
os.waitpid(pid, 0)
print((int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK'))
P
		)
		least=$(printf '%s\n%s\n' "$took" "${least:-$took}" | sort -n | head -1)
	done
	echo "$least"
}

show() {
	name=$1
	shift
	alone=$(cpu_of "$@")
	with=$(cpu_of env CACHEPEEK_ENGINE=shadow CACHEPEEK_OUTPUT="$scratch/$name.json" \
		LD_PRELOAD="$build/libcachepeek.so" "$@")
	windows=$(tr '\n' ' ' < "$scratch/$name.json" | grep -o '[0-9]* windows are counted, of [0-9]* instructions on average; [0-9]* are lost' | tail -1)
	l1d=$(grep -o 'l1d_misses ([^)]*): estimated [^"]*' "$scratch/$name.json" | tail -1 | sed 's/.*, //')
	awk -v name="$name" -v a="$alone" -v w="$with" -v windows="$windows" -v l1d="$l1d" 'BEGIN {
		split(windows, n, " ")
		printf "%-10s %7.2f s %7.2f s  x %.3f  %4d counted %4d lost  L1D %s\n",
			name, a, w, w / a, n[1], n[10], l1d == "" ? "-" : l1d }'
	echo "$alone $with" >> "$scratch/ratios"
	[ -z "${SHADOW_TRUTH:-}" ] && return
	CACHEPEEK_ENGINE=sim CACHEPEEK_EVENTS=instructions,l1d_misses CACHEPEEK_OUTPUT="$scratch/$name.csv" \
		LD_PRELOAD="$build/libcachepeek.so" "$@" > /dev/null 2>&1 < /dev/null || :
	grep -E 'whole run' "$scratch/$name.csv" | head -2
}

: > "$scratch/ratios"
show gzip gzip -9c "$scratch/data"
show bzip2 bzip2 -c "$scratch/data"
show xz xz -2c "$scratch/data"
show sort sort --parallel=1 -n "$scratch/numbers"
show perl perl -e 'my %h; $h{$_ % 50021} += $_ for 1 .. 20000000; print $h{17}'
show python3 python3 -c 'd = {}
for i in range(20000000): d[i % 50021] = d.get(i % 50021, 0) + i'
show sqlite3 sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000000)
	select count(*), sum(i * i % 7919) from n order by i % 101;'
show chase "$build/tests/programs/shadow_chase" 6000
awk '{ s += log($2 / $1); n++; if ($2 / $1 > worst) worst = $2 / $1 }
	END { printf "geometric mean x %.3f, worst x %.3f (goals: 1.05, 1.15)\n", exp(s / n), worst }' "$scratch/ratios"
