#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.19.0: a fused multiply-add with 32 bytes of memory is eight reads, one for each
# single, as VEX loads them one by one; an addition of the same bytes is one.
# Seen, of 1,000 executions: 8000 reads of vfmadd231ps, 1000 of vaddps.
. "$(dirname "$0")/common.sh"
grep -qw fma /proc/cpuinfo || cannot "this processor has no fused multiply-add"
need valgrind=1:3.19.0-1
for instruction in vfmadd231ps vaddps; do
	assemble "$instruction" <<-END
		mov \$1000, %ecx
	1:	$instruction data(%rip), %ymm1, %ymm0
		dec %ecx
		jnz 1b
	END
done
same "Ir Dr Dw of 1,000 vaddps" "3004 1000 0" "$(references vaddps)"
same "Ir Dr Dw of 1,000 vfmadd231ps" "3004 8000 0" "$(references vfmadd231ps)"
