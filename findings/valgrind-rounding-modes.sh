#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: SSE divisions round to nearest, whatever MXCSR says; conversions to integers
# round as it says.  1 / 3 in single precision, and 2.5 as an integer, in each of the four ways
# (to nearest, down, up, to zero).
# Seen: one quotient four times by valgrind --tool=none, two alone; the integers are the same.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > modes.c <<'END'
#include <stdio.h>

int main(void)
{
	for (unsigned way = 0; way < 4; way++) {
		float third = 1, three = 3, half = 2.5;
		unsigned saved, mode = 0x1f80 | way << 13;
		int integer;
		__asm__ volatile("stmxcsr %2\n\tldmxcsr %3\n\tdivss %4, %0\n\tcvtss2si %5, %1\n\tldmxcsr %2"
				 : "+x"(third), "=&r"(integer), "=m"(saved)
				 : "m"(mode), "x"(three), "x"(half));
		printf("%a %d\n", third, integer);
	}
	return 0;
}
END
cc -O1 -o modes modes.c
same "1 / 3 and 2.5, alone" "0x1.555556p-2 2
0x1.555554p-2 2
0x1.555556p-2 3
0x1.555554p-2 2" "$(./modes)"
same "1 / 3 and 2.5, by Valgrind" "0x1.555556p-2 2
0x1.555556p-2 2
0x1.555556p-2 3
0x1.555556p-2 2" "$(valgrind -q --tool=none ./modes)"
