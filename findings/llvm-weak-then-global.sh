#!/bin/sh
# SPDX-License-Identifier: MIT
# clang 14's assembler refuses .globl behind .weak of the same symbol ("changed binding to
# STB_GLOBAL"), as a compiler writes it for a function that is weak in an asm statement; with
# .weak behind .globl it warns.  GNU as 2.40 takes both, and the symbol is weak.
. "$(dirname "$0")/common.sh"
need clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 \
	libclang-common-14-dev=1:14.0.6-12 binutils=2.40-2 binutils-x86-64-linux-gnu=2.40-2 \
	libbinutils=2.40-2 binutils-common=2.40-2
printf '.weak f\n.globl f\nf: ret\n' > weak-globl.s
printf '.globl f\n.weak f\nf: ret\n' > globl-weak.s
# binding COMMAND FILE: of f, or what the assembler says
binding()
{
	if $1 -o out.o "$2" 2> said; then
		nm out.o | cut -d' ' -f2
	else
		sed -n 's/.*error: //p' said
	fi
}
same "as, weak first" W "$(binding as weak-globl.s)"
same "as, globl first" W "$(binding as globl-weak.s)"
same "clang, globl first" W "$(binding 'clang-14 -c' globl-weak.s)"
same "clang, weak first" "f changed binding to STB_GLOBAL" "$(binding 'clang-14 -c' weak-globl.s)"
