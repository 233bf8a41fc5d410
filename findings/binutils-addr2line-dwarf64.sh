#!/bin/sh
# SPDX-License-Identifier: MIT
# binutils 2.40: addr2line has no lines of a program of gcc 12 with -gdwarf64 (DWARF's 64-bit
# format), which eu-addr2line of elfutils 0.188 has.
# Seen: ??:? with "DWARF error", and one.c:2.
. "$(dirname "$0")/common.sh"
need elfutils=0.188-2.1 libdw1=0.188-2.1 libasm1=0.188-2.1 libelf1=0.188-2.1 \
	binutils=2.40-2 binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 binutils-common=2.40-2 \
	gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1
printf 'int one(int x);\nint one(int x) { return x + 1; }\nint main(void) { return one(-1); }\n' > one.c
# line FORMAT COMMAND...
line()
{
	gcc-12 -g "-gdwarf$1" -c -o one.o one.c
	cc -o "one$1" one.o
	at=$(nm "one$1" | sed -n 's/ T one$//p')
	program=one$1
	shift
	"$@" -s -e "$program" "0x$at" 2> said | cut -d: -f1,2
}
same "32 bits, addr2line" "one.c:2" "$(line 32 addr2line)"
same "64 bits, addr2line" "??:?" "$(line 64 addr2line)"
same "64 bits, what addr2line says" "addr2line: DWARF error" "$(sed -n '1s/: offset .*//p' said)"
same "64 bits, eu-addr2line" "one.c:2" "$(line 64 eu-addr2line)"
