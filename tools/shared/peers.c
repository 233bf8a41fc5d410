/* SPDX-License-Identifier: MIT */
#include "tools/shared/peers.h"

#include <stddef.h>
#include <string.h>

#define NO_ATTACH                                                                          \
	"a program is counted from its start: `cachepeek PROGRAM`, there is no attaching " \
	"to a process that runs"

static const struct {
	const char *word, *answer;
} peers[] = {
	{"stat", "`cachepeek PROGRAM` counts a program"},
	{"record", "`cachepeek dcache PROGRAM` finds where a program misses, "
		   "`cachepeek PROGRAM` counts"},
	{"mem", "`cachepeek dcache PROGRAM` finds where a program misses"},
	{"c2c", "`cachepeek sharing PROGRAM` finds lines that threads share"},
	{"script", "`cachepeek report -o FILE.csv` writes a run's values"},
	{"attach", NO_ATTACH},
	{"-p", NO_ATTACH},
	{"--pid", NO_ATTACH},
	{"--attach", NO_ATTACH},
	{"-a", "the whole system is not counted: `cachepeek PROGRAM` counts a program "
	       "and the processes that it starts"},
	{"-i", "`-I 100ms` makes a time series"},
	{"-r", "`--repeat N` runs the program N times"},
	{"-C", "`-m` names the machine to simulate; `taskset` pins the program"},
	{"--tool", "`cachepeek -E sim PROGRAM` simulates"},
};

const char *cp_peer_answer(const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		if (strlen(peers[i].word) == length &&
			strncmp(peers[i].word, word, length) == 0)
			return peers[i].answer;
	return NULL;
}
