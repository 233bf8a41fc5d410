#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.19.0: a load whose value is overwritten without a use is not counted, nor is that of
# an AND with 0 in memory: VEX has removed both before the tool sees them.
# Seen, of 1,000 executions: 0 reads of mov (mem), %eax; 0 reads and 1000 writes of andl $0, (mem),
# where andl $1, (mem) has 1000 reads.  (cachegrind counts what is read and written as read.)
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
# loop NAME INSTRUCTIONS
loop()
{
	printf 'mov $1000, %%ecx\n1: %s\ndec %%ecx\njnz 1b\n' "$2" | assemble "$1"
}
loop unused 'mov data(%rip), %eax; mov %ecx, %eax'
loop zero 'andl $0, data(%rip)'
loop one 'andl $1, data(%rip)'
same "Ir Dr Dw of 1,000 loads that nothing uses" "4004 0 0" "$(references unused)"
same "Ir Dr Dw of 1,000 andl \$0, (mem)" "3004 0 1000" "$(references zero)"
same "Ir Dr Dw of 1,000 andl \$1, (mem)" "3004 1000 0" "$(references one)"
