#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: a signal's handler begins with the direction flag as the program had it.  The
# kernel clears it (so the ABI of x86-64 has it), and string instructions of a handler go upwards.
# Seen: 0 alone, 1 by valgrind --tool=none.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > flag.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long flags;

static void handler(int signal)
{
	unsigned long now;
	(void)signal;
	__asm__ volatile("pushfq\n\tpopq %0\n\tcld" : "=r"(now) : : "cc", "memory");
	flags = now;
}

int main(void)
{
	signal(SIGUSR1, handler);
	long result = 62; /* kill(2), with the flag set */
	__asm__ volatile("std\n\tsyscall\n\tcld" : "+a"(result)
			 : "D"((long)getpid()), "S"((long)SIGUSR1) : "rcx", "r11", "cc", "memory");
	printf("%lu\n", flags >> 10 & 1);
	return 0;
}
END
cc -O1 -mno-red-zone -o flag flag.c
same "the flag in a handler, alone" 0 "$(./flag)"
same "the flag in a handler, by Valgrind" 1 "$(valgrind -q --tool=none ./flag)"
