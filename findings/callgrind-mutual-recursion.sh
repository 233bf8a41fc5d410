#!/bin/sh
# SPDX-License-Identifier: MIT
# callgrind 3.19.0: of two functions that call each other, each level of the recursion is added to
# the inclusive cost of its function once more.  A function that calls itself has the same number
# of levels, and not more than the whole program.
# Seen: even'2 has 24 times the instructions of the program, by callgrind_annotate
# --inclusive=yes; with --separate-recs as deep as the recursion it has less than the program.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > turns.c <<'END'
int odd(int);
int even(int);
int even(int n) { return n == 0 ? 1 : odd(n - 1) + 1; }
int odd(int n) { return n == 0 ? 0 : even(n - 1) + 1; }
int main(void) { return even(1000) == 0; }
END
cc -O0 -g -o turns turns.c
# ratio FILE: how many times the program's instructions the worst row of even or odd has, rounded down
ratio()
{
	callgrind_annotate --inclusive=yes "$1" | tr -d ',' |
		awk '/PROGRAM TOTALS/ { all = $1 } /:(even|odd)/ && $1 > most { most = $1 } END { print int(most / all) }'
}
valgrind -q --tool=callgrind --callgrind-out-file=plain ./turns
valgrind -q --tool=callgrind --separate-recs=1001 --callgrind-out-file=apart ./turns
[ "$(ratio plain)" -ge 2 ] || same "times the program's instructions" "2 or more" "$(ratio plain)"
same "times the program's instructions, with levels apart" 0 "$(ratio apart)"
