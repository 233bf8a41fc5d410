#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: cvtsi2ss of a 64-bit integer rounds twice, to a double and then to a single.
# 2^60 + 2^36 + 1 lies just above the middle of two singles: rounded to a double first it lies on
# the middle, and goes to the even one, which is the lower.
# Seen: 0x1.000002p+60 alone, 0x1p+60 by valgrind --tool=none.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > single.c <<'END'
#include <stdio.h>

int main(void)
{
	long number = (1L << 60) + (1L << 36) + 1;
	float single;
	__asm__("cvtsi2ssq %1, %0" : "=x"(single) : "rm"(number));
	printf("%a\n", single);
	return 0;
}
END
cc -O1 -o single single.c
same "the single of 2^60 + 2^36 + 1, alone" 0x1.000002p+60 "$(./single)"
same "the single of 2^60 + 2^36 + 1, by Valgrind" 0x1p+60 "$(valgrind -q --tool=none ./single)"
