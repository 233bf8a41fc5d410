#!/bin/sh
# SPDX-License-Identifier: MIT
# gcc 12's libgomp: a library that has GOMP_parallel before it is passed over where it gives the
# symbol a version of its own, with no word: the program wants GOMP_parallel@GOMP_1.0, and ld.so
# takes a symbol without a version for that, and none with another.
# Seen: "ours theirs" of a library without a version node's name, "theirs" of one with.
. "$(dirname "$0")/common.sh"
need gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libgomp1=12.2.0-14+deb12u1
cat > ours.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
	void (*next)(void (*)(void *), void *, unsigned, unsigned) =
		(void (*)(void (*)(void *), void *, unsigned, unsigned))dlsym(RTLD_NEXT, "GOMP_parallel");
	fputs("ours ", stdout);
	next(function, data, threads, flags);
}
END
cat > team.c <<'END'
int puts(const char *);

int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	puts("theirs");
	return 0;
}
END
gcc-12 -fopenmp -c team.c
cc -o team team.o "$root/usr/lib/x86_64-linux-gnu/libgomp.so.1"
# said MAP: by the program behind a library with such symbols
said()
{
	echo "$1" > map
	cc -shared -fPIC -Wl,--version-script=map -o ours.so ours.c -ldl
	LD_PRELOAD=./ours.so ./team
}
same "no name" "ours theirs" "$(said '{ global: GOMP_parallel; local: *; };')"
same "a name" "theirs" "$(said 'OURS_1 { global: GOMP_parallel; local: *; };')"
