#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: a test of a bit of a register by another register (bt %rcx, %rax) writes that register
# to the program's memory, 288 bytes below its stack pointer, where the ABI of x86-64 leaves 128 bytes
# alone, and reads it; by a number it does not.  A program whose stack pointer is in its own heap, as in
# Erlang's virtual machine, finds its data changed, and cachegrind counts the references.
# Seen, of 1,000 executions: 1000 reads and 1000 writes of bt %rdx, %rax; none of bt $5, %rax.  And 1 word
# changed by valgrind --tool=none, none alone.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
# loop NAME INSTRUCTION
loop()
{
	printf 'mov $1000, %%ecx\n1: %s\ndec %%ecx\njnz 1b\n' "$2" | assemble "$1"
}
loop register 'bt %rdx, %rax'
loop number 'bt $5, %rax'
same 'Ir Dr Dw of 1,000 bt %rdx, %rax' "3004 1000 1000" "$(references register)"
same 'Ir Dr Dw of 1,000 bt $5, %rax' "3004 0 0" "$(references number)"

cat > bit.c <<'END'
#include <stdio.h>

static unsigned long words[64];

int main(void)
{
	unsigned long changed = 0;

	__asm__ volatile("mov %%rsp, %%r8\n\tmov %0, %%rsp\n\tbtq %%rcx, %%rax\n\tmov %%r8, %%rsp"
			 : : "r"(&words[48]), "a"(~0ul), "c"(5ul) : "r8", "cc", "memory");
	for (int i = 0; i < 64; i++)
		changed += words[i] != 0;
	printf("%lu\n", changed);
	return 0;
}
END
cc -O1 -o bit bit.c
same "words changed, alone" 0 "$(./bit)"
same "words changed, by Valgrind" 1 "$(valgrind -q --tool=none ./bit)"
