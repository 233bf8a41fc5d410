#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: a program that gcc 12 compiled with -gdwarf64 or -gsplit-dwarf (DWARF's 64-bit
# format; DWARF in files beside the program) ends with 1 before it begins, by any tool: "debuginfo
# reader: ensure_valid failed".  In the plain format it runs.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1 gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1
echo 'int main(void) { return 7; }' > seven.c
# status OPTION TOOL: of the program, compiled so, by the tool
status()
{
	gcc-12 -g "$1" -c seven.c
	cc -o seven seven.o
	code=0
	valgrind -q --tool="$2" ./seven > log 2>&1 || code=$?
	echo "$code$(grep -o ': ensure_valid failed' log)"
}
for tool in none lackey; do
	same "status by $tool, 32 bits" 7 "$(status -gdwarf32 $tool)"
	same "status by $tool, 64 bits" "1: ensure_valid failed" "$(status -gdwarf64 $tool)"
	same "status by $tool, split" "1: ensure_valid failed" "$(status -gsplit-dwarf $tool)"
done
