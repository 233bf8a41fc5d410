/* SPDX-License-Identifier: MIT
 *
 * The cache hierarchy that the simulated PMU gets: the host's, as sysfs tells
 * it, or a machine file's.
 */
#ifndef CACHEPEEK_PRELOAD_MACHINE_H
#define CACHEPEEK_PRELOAD_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* sets 0: the machine has no such cache. */
struct cp_cache {
	uint32_t sets, ways, line;
};

enum cp_level { CP_L1I, CP_L1D, CP_L2, CP_LLC, CP_ITLB, CP_DTLB, CP_STLB, CP_NLEVELS };

struct cp_machine {
	char name[64];
	struct cp_cache level[CP_NLEVELS]; /* TLBs: line is 0 */
	uint32_t page;                     /* bytes */
	char note[160]; /* what was assumed, for the report; "" if nothing */
};

/*
 * "host", the name of a machine that is compiled in, or a file (a name with a
 * slash).  0, or -errno with one line in error.  What sysfs does not tell about
 * the host is taken from the defaults and said in note.
 */
int cp_machine_find(
	struct cp_machine *machine, const char *name, char *error, size_t error_size);

/* Bytes of the host's L1D line, the one number that hardware counters need. */
unsigned cp_machine_host_line(void);

/* "host: L1I 32 KiB 8-way, …", for the report. */
void cp_machine_describe(const struct cp_machine *machine, char *to, size_t size);

/* The option of the simulated PMU for a level, such as "--l1d=64,8,64". */
void cp_machine_option(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size);

#endif
