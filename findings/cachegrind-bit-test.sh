#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.19.0: a test of a bit of a register by another register reads and writes memory
# (VEX puts the register on the stack, below what the program uses); by a number it does not.
# Seen, of 1,000 executions: 1000 reads and 1000 writes of bt %rdx, %rax; none of bt $5, %rax.
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
