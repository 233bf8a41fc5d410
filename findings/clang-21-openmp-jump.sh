#!/bin/sh
# SPDX-License-Identifier: MIT
# clang 21: a parallel region at a function's end is a jump to __kmpc_fork_call with -O1, too,
# where clang 14 has a call (clang-openmp-tail-call.sh): a library that is loaded by itself
# (RTLD_LOCAL) is then in no return address that the runtime or an interposer sees.
. "$(dirname "$0")/common.sh"
need clang-21=1:21.1.8-13 libclang-cpp21=1:21.1.8-13 libllvm21=1:21.1.8-13 libclang-common-21-dev=1:21.1.8-13
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
	clang-21 "$1" -fopenmp -fPIC -S -o - region.c | awk '/__kmpc_fork_call@PLT/ { print $1; exit }'
}
same "with -O0" callq "$(instruction -O0)"
same "with -O1" jmp "$(instruction -O1)"
