#!/bin/sh
# SPDX-License-Identifier: MIT
# Refuses, in one line, to build where the result could not run.
#	tools/floors.sh COMPILER VALGRIND_INCLUDE
set -eu
# Tried: glibc 2.36 and Valgrind 3.19 (Debian 12), 2.41 and 3.24 (13), 2.43 and 3.27 (testing).
glibc=2.34
valgrind=3.19

# The number behind a macro of what stands on standard input.
macro()
{
	sed -n "s/^#define $1 //p"
}

refuse()
{
	echo "cachepeek: $1" >&2
	exit 1
}

# at_least HAVE FLOOR
at_least()
{
	[ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

libc=$(echo '#include <features.h>' | $1 -E -dM - 2> /dev/null) ||
	refuse "$1 cannot compile: install a C compiler and the headers of the C library"
major=$(echo "$libc" | macro __GLIBC__)
[ -n "$major" ] ||
	refuse "needs glibc, and $1 compiles for another C library (musl's loader cannot preload this library): build on a glibc system"
have=$major.$(echo "$libc" | macro __GLIBC_MINOR__)
at_least "$have" $glibc || refuse "needs glibc $glibc or newer, and this is $have"

# Without its headers the compiler says what is missing.
[ -r "$2/valgrind.h" ] || exit 0
header=$(cat "$2/valgrind.h" | tr -s ' \t' ' ')
have=$(echo "$header" | macro __VALGRIND_MAJOR__).$(echo "$header" | macro __VALGRIND_MINOR__)
at_least "$have" $valgrind || refuse "needs Valgrind $valgrind or newer, and this is $have"
