#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.19.0: rep movsb is an instruction, a read and a write for each byte, and one more
# instruction at the end, where a processor retires one for all of them.  So a memcpy of the C
# library has 33 times the instructions and references where it takes rep movsb in place of vectors
# of 32 bytes.  Seen, of 1,000 bytes: 1001 instructions, 1000 reads, 1000 writes.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
for count in 0 1000; do
	assemble "copy$count" <<-END
		mov \$$count, %ecx
		lea data(%rip), %rsi
		lea data+2000(%rip), %rdi
		rep movsb
	END
done
same "Ir Dr Dw of rep movsb with rcx 0" "7 0 0" "$(references copy0)"
same "Ir Dr Dw of rep movsb with rcx 1000" "1007 1000 1000" "$(references copy1000)"
