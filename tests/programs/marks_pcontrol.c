/* SPDX-License-Identifier: MIT
 * Tells MPI's tools to stop and to go on, from C and as Fortran does.  Touches a
 * page in each state.
 */
#include "cachepeek.h"
#include "fresh.h"

int MPI_Pcontrol(const int level, ...);
void mpi_pcontrol_(const int *level);

static void pass(const char *name, volatile char *pages)
{
	int off = 0, on = 1;

	cachepeek_begin_named(name);
	pages[0] = 1;
	MPI_Pcontrol(0);
	pages[PAGE] = 1;
	MPI_Pcontrol(0);
	MPI_Pcontrol(1);
	MPI_Pcontrol(1);
	pages[2 * PAGE] = 1;
	mpi_pcontrol_(&off);
	pages[3 * PAGE] = 1;
	mpi_pcontrol_(&on);
	cachepeek_end_named(name);
}

int main(void)
{
	volatile char *pages = fresh(8 * PAGE);

	MPI_Pcontrol(7, "seven");
	pass("warm", pages); /* code and stack have first touches, too */
	pass("all", pages + 4 * PAGE);
	MPI_Pcontrol(2);
	return 0;
}
