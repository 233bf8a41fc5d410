#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: fnsave stores the x87 state, and does not reset it.  The processor's control
# word is 037f behind it, whatever it was.  What is stored has 53-bit precision in a way of its own,
# too: the two bits of precision of the control word are always 11.
# Seen, stored and then: 0c7f 037f alone, 0f7f 0f7f by valgrind --tool=none.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > save.c <<'END'
#include <stdio.h>

int main(void)
{
	unsigned short control = 0x0c7f, stored[54], then;
	__asm__ volatile("fldcw %2\n\tfnsave %0\n\tfnstcw %1\n\tfninit"
			 : "=m"(stored), "=m"(then) : "m"(control));
	printf("%04x %04x\n", stored[0], then);
	return 0;
}
END
cc -O1 -o save save.c
same "the control word, alone" "0c7f 037f" "$(./save)"
same "the control word, by Valgrind" "0f7f 0f7f" "$(valgrind -q --tool=none ./save)"
