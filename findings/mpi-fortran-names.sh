#!/bin/sh
# SPDX-License-Identifier: MIT
# Open MPI 4.1.4 and MPICH 4.0.2: which of C's functions a Fortran program's MPI_Init ends in, which
# is what a library that has MPI_Init of its own before them sees.  Open MPI goes by PMPI_Init in
# each way; MPICH by MPI_Init from mpif.h and the module mpi, and by PMPI_Init from mpi_f08.
. "$(dirname "$0")/common.sh"
need gfortran-12=12.2.0-14+deb12u1 libgfortran5=12.2.0-14+deb12u1 \
	libopenmpi-dev=4.1.4-3+b1 libopenmpi3=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3 \
	libmpich-dev=4.0.2-3+b1 libmpich12=4.0.2-3+b1
cat > seen.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#define SEE(name) \
	int name(int *count, char ***arguments) \
	{ \
		int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, #name); \
		fputs(#name "\n", stderr); \
		return next(count, arguments); \
	}
SEE(MPI_Init)
SEE(PMPI_Init)
END
cc -shared -fPIC -o seen.so seen.c -ldl
libraries=$root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX="$root/usr" OMPI_MCA_btl=self OMPI_MCA_pml=ob1
openmpi="-I$libraries/fortran/gfortran-mod-15/openmpi -I$libraries/openmpi/include
	-L$libraries/openmpi/lib/fortran/gfortran -L$libraries -L$libraries/openmpi/lib
	-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh -lmpi"
mpich="-I$root/usr/include/x86_64-linux-gnu/mpich -L$libraries -lmpichfort -lmpich"
# first FLAGS WAY: what is seen first of a program that declares MPI so
first()
{
	printf 'program t\n%s\ninteger e\ncall MPI_Init(e)\ncall MPI_Finalize(e)\nend program\n' "$2" > t.F90
	gfortran-12 -w -c t.F90 $1
	cc -o t t.o $1 "$libraries/libgfortran.so.5"
	LD_PRELOAD=./seen.so ./t 2>&1 | grep MPI_Init | head -n 1
}
header='include "mpif.h"'
for way in "$header" 'use mpi' 'use mpi_f08'; do
	same "Open MPI, $way" PMPI_Init "$(first "$openmpi" "$way")"
done
same "MPICH, $header" MPI_Init "$(first "$mpich" "$header")"
same "MPICH, use mpi" MPI_Init "$(first "$mpich" 'use mpi')"
same "MPICH, use mpi_f08" PMPI_Init "$(first "$mpich" 'use mpi_f08')"
