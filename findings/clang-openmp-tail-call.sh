#!/bin/sh
# SPDX-License-Identifier: MIT
# clang 14: a parallel region at a function's end is a jump to __kmpc_fork_call with -O2, so that
# the return address that the runtime (OMPT's codeptr_ra) and its interposers see is the caller's
# caller.  With -O1 it is a call.
. "$(dirname "$0")/common.sh"
need clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12
cat > region.c <<'END'
void work(void);
void region(void);
void region(void)
{
#pragma omp parallel
	work();
}
END
# instruction OPTION: which goes to the runtime
instruction()
{
	clang-14 "$1" -fopenmp -S -o - region.c | awk '/__kmpc_fork_call@PLT/ { print $1; exit }'
}
same "with -O1" callq "$(instruction -O1)"
same "with -O2" jmp "$(instruction -O2)"
