#!/bin/sh
# SPDX-License-Identifier: MIT
# elfutils 0.196 (libdw's dwarf_getsrclines, by eu-addr2line): a line table in DWARF's 64-bit format,
# which clang 21 writes with -gdwarf64, has no lines: its last four bytes are not read, and the
# operand that would be there is "invalid .debug_line section".  gcc's assembler writes such tables in
# the 32-bit format beside units of 64 bits, so that gcc's have lines.
# Seen: ??:0 for clang's function of -gdwarf64, one.c:1 with -gdwarf32, and by binutils for both.
. "$(dirname "$0")/common.sh"
need elfutils=0.196-1 libdw1t64=0.196-1 libasm1t64=0.196-1 libelf1t64=0.196-1 clang-21=1:21.1.8-13 \
	libclang-cpp21=1:21.1.8-13 libllvm21=1:21.1.8-13 libclang-common-21-dev=1:21.1.8-13
echo 'int one(int x); int one(int x) { return x + 1; }' > one.c
# line READER OPTION COMPILER...: of the function
line()
{
	reader=$1 option=$2
	shift 2
	"$@" -O1 -g "$option" -fPIC -c -o one.o one.c
	cc -shared -o one.so one.o
	"$reader" -s -e one.so "$(nm one.so | sed -n 's/ T one$//p')" | cut -d: -f1,2
}
same "clang's, 64 bits" "??:0" "$(line eu-addr2line -gdwarf64 clang-21)"
same "clang's, 64 bits, by binutils" "one.c:1" "$(line addr2line -gdwarf64 clang-21 2> /dev/null)"
same "clang's, 32 bits" "one.c:1" "$(line eu-addr2line -gdwarf32 clang-21)"
same "gcc's, 64 bits" "one.c:1" "$(line eu-addr2line -gdwarf64 cc)"
