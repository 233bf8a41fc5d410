#!/bin/sh
# SPDX-License-Identifier: MIT
# cpuid 20230120: where 80000021h EAX bit 14 is set (AMD from family 1Ah on), the L2 TLB sizes of
# 80000006h and 80000019h are in units of 32 entries.  It names no such bit and prints the units as
# entries: of an EPYC 9005, 128 data entries for 4096, 64 instruction entries for 2048.
. "$(dirname "$0")/common.sh"
need cpuid=20230120-1
# The leaves of an EPYC 9005 that matter.
cat > leaves <<'END'
CPU 0:
   0x00000000 0x00: eax=0x00000010 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65
   0x00000001 0x00: eax=0x00b00f21 ebx=0x00400800 ecx=0x7efa320b edx=0x178bfbff
   0x80000000 0x00: eax=0x80000028 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65
   0x80000006 0x00: eax=0x40802040 ebx=0x60804040 ecx=0x04008140 edx=0x08009140
   0x80000021 0x00: eax=0xd93fffcf ebx=0x00080382 ecx=0x00000000 edx=0x00000000
END
cpuid -1 -f leaves > decoded
same "L2 TLB of 4K pages" "instruction # entries = 0x40 (64); data # entries = 0x80 (128)" \
	"$(sed -n '/4K pages & L2 TLB (0x80000006/,/data #/{/entries/p;}' decoded | sed 's/^ *//; s/  *=/ =/' |
		paste -sd ';' | sed 's/;/; /')"
