#!/bin/sh
# SPDX-License-Identifier: MIT
# elfutils 0.188 (libdw's dwfl_module_getsrc, by eu-addr2line): a line is found through
# .debug_aranges alone.  clang 14 writes none, gcc 12 does; in a program of both the lines of
# clang's are missing.  The units have DW_AT_low_pc and a line table, by which addr2line of binutils
# finds them.
# Seen: ??:0 for the function of clang, one.c:1 with -gdwarf-aranges, and for gcc's.
. "$(dirname "$0")/common.sh"
need elfutils=0.188-2.1 libdw1=0.188-2.1 libasm1=0.188-2.1 libelf1=0.188-2.1 clang-14=1:14.0.6-12 \
	libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12
echo 'int one(int x); int one(int x) { return x + 1; }' > one.c
echo 'int one(int x); int main(void) { return one(-1); }' > main.c
cc -g -c main.c
# line PROGRAM FUNCTION
line()
{
	eu-addr2line -s -e "$1" "$(nm "$1" | sed -n "s/ T $2\$//p")"
}
# build PROGRAM COMPILER...: with main of gcc and one of the compiler
build()
{
	program=$1
	shift
	"$@" -g -c -o one.o one.c
	cc -o "$program" main.o one.o
}
build mixed clang-14
build aranges clang-14 -gdwarf-aranges
build alike cc
same "one, clang's" "??:0" "$(line mixed one)"
same "one, clang's by binutils" "one.c:1" "$(addr2line -s -e mixed "$(nm mixed | sed -n 's/ T one$//p')")"
same "main, gcc's" "main.c:1" "$(line mixed main | cut -d: -f1,2)"
same "one, clang's with aranges" "one.c:1" "$(line aranges one | cut -d: -f1,2)"
same "one, gcc's" "one.c:1" "$(line alike one | cut -d: -f1,2)"
