/* SPDX-License-Identifier: MIT
 *	vm_read COUNT NAME
 * What cachepeek_read says that a loop of COUNT turns has cost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"
#include "loop.h"

int main(int argc, char **argv)
{
	uint64_t before = 0, after = 0;
	int error;

	if (argc < 3)
		return 2;
	error = cachepeek_read(argv[2], &before);
	loop(strtoul(argv[1], NULL, 10));
	if (!error)
		error = cachepeek_read(argv[2], &after);
	printf("error %d read %" PRIu64 "\n", error, after - before);
	return 0;
}
