#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.19.0: where a branch goes over another branch to the same place, as in
# if (a && b), VEX makes one condition of both, and the instructions of the second are counted
# whether or not the program comes there.
# Seen: 6006 instructions of a loop that executes 4006; with --vex-guest-chase=no those.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
assemble both <<'END'
	mov $1000, %ecx
	xor %eax, %eax
	xor %edx, %edx
1:	test %eax, %eax
	je 2f
	test %edx, %edx
	je 2f
	nop
2:	dec %ecx
	jnz 1b
END
same "Ir Dr Dw of 1,000 times a && b, where a is 0" "6006 0 0" "$(references both)"
export VALGRIND_OPTS=--vex-guest-chase=no
same "the same with --vex-guest-chase=no" "4006 0 0" "$(references both)"
