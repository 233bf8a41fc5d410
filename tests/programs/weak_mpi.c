/* SPDX-License-Identifier: MIT
 * Asks by weak references which functions of MPI there are, calls those, and prints what
 * they return; nobody has given it an MPI.
 */
#include <stdio.h>

#define FUNCTIONS(X)                                                                     \
	X(Init)                                                                          \
	X(Initialized) X(Get_version) X(Barrier) X(Bcast_c) X(Pcontrol) X(Finalize)

#define X(name) extern int MPI_##name(long a, long b, long c) __attribute__((weak));
FUNCTIONS(X)
#undef X

int main(void)
{
#define X(name)                                                                          \
	if (MPI_##name)                                                                  \
		printf("MPI_" #name " returns %d\n", MPI_##name(1, 0, 0));               \
	else                                                                             \
		printf("no MPI_" #name "\n");
	FUNCTIONS(X)
#undef X
	return 3;
}
