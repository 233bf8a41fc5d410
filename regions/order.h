/* SPDX-License-Identifier: MIT
 *
 * The order for a report: what the library, at the end of a program, tells the program
 * that writes it (tools/reporter/), as arguments.  Both are of one version.
 */
#ifndef CACHEPEEK_REGIONS_ORDER_H
#define CACHEPEEK_REGIONS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its name, beside the library. */
#define CP_REPORTER "reporter"

/* Signed values are kept modulo 2^64.  job: its number, 0: of none; colour: of
 * enum cp_colour. */
/* clang-format off */
#define CP_ORDER_NUMBERS(X) \
	X(root_pid) X(pid) X(image) X(pass) X(flags) X(colour) X(how) X(code) X(scope) \
	X(job) X(nranks) X(job_rank) X(rank)
/* clang-format on */

enum cp_order_flag {
	CP_ORDER_WHOLE = 1,   /* text has all lines */
	CP_ORDER_SHARED = 2,  /* others than its children write into the directory, too */
	CP_ORDER_ABORTED = 4, /* by MPI_Abort */
	CP_ORDER_OPEN = 8,    /* an MPI was begun, and not ended */
	/* All nranks of the job, whose records are in the file that cp_order_parcels()
	 * names (regions/parcel.h). */
	CP_ORDER_GATHERED = 16,
};

struct cp_order {
	const char *directory, *outputs, *exe;
#define X(name) uint64_t name;
	CP_ORDER_NUMBERS(X)
#undef X
};

/* How it was carried out, as an exit status. */
enum cp_order_end {
	CP_ORDER_DONE,    /* all of the run is in every output */
	CP_ORDER_FAILED,  /* not all of it; that was said */
	CP_ORDER_PART,    /* what was to be written now is; or there was nothing */
	CP_ORDER_UNKNOWN, /* it is none of this version: nothing was said */
};

#define CP_ORDER_ARGUMENTS 6
#define CP_ORDER_TEXT 300

/* argv for it, which ends with NULL; text has room for CP_ORDER_TEXT bytes. */
void cp_order_arguments(const struct cp_order *order, char *text,
	const char *argv[CP_ORDER_ARGUMENTS + 1]);

#define CP_PARCELS_PATH 600
void cp_order_parcels(const char *directory, int pid, char path[CP_PARCELS_PATH]);

/* Returns false if argv is none. */
bool cp_order_read(struct cp_order *order, int argc, char *const argv[]);

#endif
