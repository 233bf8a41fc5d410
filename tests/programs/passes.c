/* SPDX-License-Identifier: MIT
 *	passes RUNS LOG [differ]
 * Says in its record that its events need so many runs, as they do where the PMU
 * has too few counters.  Adds to LOG which run it is, and touches that many times
 * ten pages in the region "part".  differ: each run ends otherwise.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"
#include "regions/record.h"

static int claim(uint32_t runs)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%d-0.rec", getenv("CACHEPEEK__LAUNCHER"),
		(int)getpid());
	fd = open(path, O_WRONLY);
	return fd >= 0 && pwrite(fd, &runs, sizeof(runs),
				  offsetof(struct cp_record_header, npasses)) > 0;
}

int main(int argc, char **argv)
{
	const char *pass = getenv("CACHEPEEK_PASS");
	FILE *log = argc > 2 ? fopen(argv[2], "a") : NULL;
	size_t pages = pass ? 10 * strtoul(pass, NULL, 10) : 0;

	if (!log || !pass || !claim((uint32_t)strtoul(argv[1], NULL, 10)))
		return 99;
	fprintf(log, "%s\n", pass);
	fclose(log);
	CACHEPEEK_BEGIN("part");
	store_each(fresh(100 * PAGE), pages, PAGE);
	CACHEPEEK_END("part");
	return argc > 3 ? atoi(pass) : 0;
}
