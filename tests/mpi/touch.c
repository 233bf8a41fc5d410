/* SPDX-License-Identifier: MIT
 *	touch [how [RANK]]
 * Rank r touches 100 * (r + 1) new pages in the region "touch": as many page faults,
 * and as many misses of the simulated L1D.  how:
 *	ok        (the default) MPI_Finalize
 *	return    nobody calls it
 *	spawn     two more processes touch 70 pages each in the region "spawned"
 *	exit, kill, segv, mpi_abort
 *	          this rank ends so, the others wait for their end
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachepeek.h"

#define PAGE 4096
#define STRIDE (PAGE + 64) /* each in another set than the one before */
#define LONGEST 10         /* seconds until a launcher has ended the others */

static void touch(volatile char *memory, int pages)
{
	for (int i = 0; i < pages; i++)
		memory[(size_t)i * STRIDE] = 1;
}

/* The region has nothing of malloc and the marker but what they always cost. */
static void work(const char *name, int pages)
{
	volatile char *memory = aligned_alloc(PAGE, (size_t)pages * 2 * PAGE);
	cachepeek_region region = cachepeek_region_register(name);

	/* one fault for each page, whatever the system's setting is */
	madvise((void *)(uintptr_t)memory, (size_t)pages * 2 * PAGE, MADV_NOHUGEPAGE);
	cachepeek_begin(region);
	touch(memory, pages);
	cachepeek_end(region);
}

static void end(const char *how)
{
	if (strcmp(how, "exit") == 0)
		exit(7);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "mpi_abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

static void spawn(char *program)
{
	MPI_Comm children;

	MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		&children, MPI_ERRCODES_IGNORE);
	MPI_Barrier(children);
	MPI_Comm_disconnect(&children);
}

static void be_spawned(MPI_Comm parent)
{
	work("spawned", 70);
	MPI_Barrier(parent);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "ok";
	MPI_Comm parent;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		be_spawned(parent);
		MPI_Finalize();
		return 0;
	}
	work("touch", 100 * (rank + 1));
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "spawn") == 0)
		spawn(argv[0]);
	if (argc > 2 && rank == atoi(argv[2]))
		end(how);
	if (argc > 2)
		sleep(LONGEST);
	if (strcmp(how, "return") != 0)
		MPI_Finalize();
	return 0;
}
