#!/bin/sh
# SPDX-License-Identifier: MIT
# mpi4py 4.1.2: Python's way out ends in a jump to MPI_Finalize, not a call, in a library that is
# loaded by itself (RTLD_LOCAL): the return address that a tool's MPI_Finalize sees is Python's, from
# where no MPI is to be found (dlsym(RTLD_NEXT) in the main program's scope).
. "$(dirname "$0")/common.sh"
need python3-mpi4py=4.1.2-2
library=$(find "$root/usr/lib" -name 'MPI*.so' | grep -v mpich | head -n 1)
kinds=$(objdump -d --no-show-raw-insn "$library" | awk '$2 ~ /^(call|jmp)/ && $NF ~ /<MPI_Finalize@plt>/ { print $2 }' | sort -u)
same "how MPI_Finalize is gone to" "call jmp" "$(echo "$kinds" | paste -sd ' ')"
