/* SPDX-License-Identifier: MIT */
#include "base/counters/options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "regions/record.h"

#define PREFIX "CACHEPEEK_"
#define FIELD(name) offsetof(struct cp_options, name)

/* Variables with this prefix are how our own processes talk to each other. */
#define PRIVATE PREFIX "_"

const struct cp_option cp_option_table[] = {
	{PREFIX "EVENTS", CP_OPTION_TEXT, FIELD(events), NULL, NULL, "EVENT,…",
		"events to count: libpfm4 names, perf::NAME, raw rHEX, mem:ADDRESS:x, "
		"sysfs:PMU/NAME=VALUE/, presets"},
	{PREFIX "GROUPS", CP_OPTION_TEXT, FIELD(groups), NULL, NULL, "GROUP,…",
		"groups of derived metrics, or group files (default: cache; on the simulated "
		"PMU with time, where that is known)"},
	{PREFIX "LET", CP_OPTION_TEXT, FIELD(let), NULL, NULL, "NAME=NUMBER,…",
		"constants of the groups' formulas, such as ELEMENT=4 "
		"(bytes per element)"},
	{PREFIX "ENGINE", CP_OPTION_CHOICE, FIELD(engine), "auto|perf|sim", "auto",
		"ENGINE",
		"hardware counters, the simulated PMU, or whichever can count here"},
	{PREFIX "SCHEDULE", CP_OPTION_CHOICE, FIELD(schedule), "multiplex|rotate|ranks",
		"multiplex", "HOW",
		"more events than counters: share the time out, "
		"the executions of regions, or the ranks of a job"},
	{PREFIX "PASS", CP_OPTION_COUNT, FIELD(pass), NULL, "0", "NUMBER",
		"of several runs that share the events: which one this is, from 1 on"},
	{PREFIX "MACHINE", CP_OPTION_TEXT, FIELD(machine), NULL, "host", "NAME|FILE",
		"the cache hierarchy that the simulated PMU has; plain: the host's sizes, without "
		"its policies and prefetchers"},
	{PREFIX "REPRODUCIBLE", CP_OPTION_TEXT, FIELD(reproducible), NULL, "0",
		"0|1|NAME,…",
		"the same counts in any directory, environment and run: variables, "
		"the stack, random numbers and time are pinned; NAME,… or PREFIX*: "
		"variables that the program keeps"},
	{PREFIX "CPU", CP_OPTION_CHOICE, FIELD(cpu), "auto|valgrind|host", "auto",
		"WHICH",
		"the processor whose features programs are shown on the simulated PMU: "
		"that of Valgrind (AVX2); this machine's, AVX-512 and all; or this "
		"machine's where it is the machine that is simulated"},
	{PREFIX "TIMING", CP_OPTION_CHOICE, FIELD(timing), "auto|on|off|sample", "auto",
		"WHEN",
		"have the simulated PMU count cycles: when they are needed; always, "
		"and model the time of all instructions; never; or always, in samples"},
	{PREFIX "WHAT_IF", CP_OPTION_TEXT, FIELD(what_if), NULL, NULL,
		"LEVEL.FIELD=VALUE,…", "change that machine, as in L2.size=4M"},
	{PREFIX "SWEEP", CP_OPTION_TEXT, FIELD(sweep), NULL, NULL,
		"LEVEL.FIELD=FIRST..LAST",
		"misses of a level of other sizes, "
		"as in L1D.ways=1..16 or L2.size=256K..8M"},
	{PREFIX "WORKING_SET", CP_OPTION_TEXT, FIELD(working_set), NULL, NULL,
		"INSTRUCTIONS",
		"lines and pages that a thread touches in so many instructions, "
		"such as 100000"},
	{PREFIX "SAMPLE", CP_OPTION_TEXT, FIELD(sample), NULL, NULL,
		"fast|balanced|KEY=NUMBER,…",
		"have the simulated PMU simulate a sample, and estimate: much faster"},
	{PREFIX "PROFILE", CP_OPTION_CHOICE, FIELD(profile),
		"none|dcache|dtlb|icache|sharing", "none", "WHAT",
		"note which instruction misses, each time on the simulated PMU, "
		"in samples on perf: `cachepeek dcache`, … shows it"},
	{PREFIX "CALL_PATHS", CP_OPTION_BOOL, FIELD(call_paths), NULL, "0", "0|1",
		"note by which calls the program came to what it did (simulated PMU): "
		"`cachepeek dcache --call-paths`, … shows it"},
	{PREFIX "LINE_USE", CP_OPTION_BOOL, FIELD(line_use), NULL, "0", "0|1",
		"with CACHEPEEK_PROFILE, "
		"note how many bytes of the lines that L1D fetches are used "
		"(simulated PMU): `cachepeek dcache --line-use` shows it"},
	{PREFIX "QUANTUM", CP_OPTION_TEXT, FIELD(quantum), NULL, NULL, "N",
		"CACHEPEEK_PROFILE=sharing also says who takes lines "
		"from whom if threads take turns after N data references"},
	{PREFIX "OUTPUT", CP_OPTION_TEXT, FIELD(output), NULL, "stderr", "SINK,…",
		"where reports go: stderr, "
		"- or files ending "
		"in .txt .json .csv .html .prom .trace.json; %h %p %r %e"},
	{PREFIX "DIR", CP_OPTION_TEXT, FIELD(dir), NULL, NULL, "DIRECTORY",
		"keep the run's records in this directory"},
	{PREFIX "LIMIT", CP_OPTION_SIZE, FIELD(limit), NULL, "256M", "SIZE",
		"count no further processes once "
		"the run's records take so much, from 1M on"},
	{PREFIX "CHILDREN", CP_OPTION_CHOICE, FIELD(children), "follow|ignore|force",
		"follow", "HOW",
		"count the processes that the program starts, leave them alone, "
		"or count even those whose environment it cleans"},
	{PREFIX "REGIONS", CP_OPTION_TEXT, FIELD(regions), NULL, NULL, "PATTERN,…",
		"count only regions whose name matches (* and ?); "
		"!PATTERN leaves out; func:PATTERN makes functions regions, "
		"case:* tests and benchmarks, line:FILE:LINE statements "
		"(simulated PMU)"},
	{PREFIX "MPI_TIMEOUT", CP_OPTION_COUNT, FIELD(mpi_timeout), NULL, "60", "SECONDS",
		"how long ranks wait for each other in MPI_Finalize, for one report; 0: "
		"no such report"},
	{PREFIX "MPI_REGIONS", CP_OPTION_BOOL, FIELD(mpi_regions), NULL, "0", "0|1",
		"a region for each function of MPI that communicates or waits"},
	{PREFIX "OPENMP", CP_OPTION_BOOL, FIELD(openmp), NULL, "1", "0|1",
		"a region for each parallel region of OpenMP"},
	{PREFIX "SPARSE", CP_OPTION_BOOL, FIELD(sparse), NULL, "0", "0|1",
		"of regions that are too short, count one execution in some, and scale"},
	{PREFIX "INTERVAL", CP_OPTION_TIME, FIELD(interval), NULL, "off", "TIME",
		"a time series: values of each interval of 10ms to 1h, "
		"such as 100ms or 2s"},
	{PREFIX "VERBOSE", CP_OPTION_LEVEL, FIELD(verbose), NULL, "0", "0…3",
		"say more about what is decided and done"},
	{PREFIX "DISABLE", CP_OPTION_BOOL, FIELD(disable), NULL, "0", "0|1",
		"do nothing at all"},
	{NULL, CP_OPTION_TEXT, 0, NULL, NULL, NULL, NULL},
};

static int choice_index(const char *choices, const char *value)
{
	size_t length;

	for (int i = 0;; i++) {
		const char *piece = cp_next_piece(&choices, '|', &length);

		if (!piece)
			return -EINVAL;
		if (strlen(value) == length && strncmp(piece, value, length) == 0)
			return i;
	}
}

/* 100ms, 2s, off.  Shorter ones would cost more than they tell. */
static int parse_time(const char *text, int *ms)
{
	uint64_t number;
	const char *end;

	*ms = 0;
	if (strcmp(text, "off") == 0 || strcmp(text, "0") == 0)
		return 0;
	if (cp_parse_u64_prefix(text, &end, &number) < 0 || number > 3600000)
		return -EINVAL;
	if (strcmp(end, "s") == 0)
		number *= 1000;
	else if (strcmp(end, "ms") != 0)
		return -EINVAL;
	if (number < 10 || number > 3600000)
		return -EINVAL;
	*ms = (int)number;
	return 0;
}

/* 64M, 1G, or bytes. */
static int parse_size(const char *text, uint64_t *bytes)
{
	const char *end;
	uint64_t number;

	if (!cp_parse_size_prefix(text, &end, &number) || *end || number < 1 << 20)
		return -EINVAL;
	*bytes = number;
	return 0;
}

static int store_value(
	struct cp_options *options, const struct cp_option *option, const char *value)
{
	char *field = (char *)options + option->offset;
	uint64_t number;
	int index;

	switch (option->type) {
	case CP_OPTION_TEXT:
		*(const char **)(void *)field = *value ? value : NULL;
		return 0;
	case CP_OPTION_CHOICE:
		index = choice_index(option->choices, value);
		if (index < 0)
			return index;
		*(int *)(void *)field = index;
		return 0;
	case CP_OPTION_LEVEL:
		if (cp_parse_u64(value, &number) || number > 3)
			return -EINVAL;
		*(int *)(void *)field = (int)number;
		return 0;
	case CP_OPTION_COUNT:
		if (cp_parse_u64(value, &number) || number > CP_MAX_PASSES)
			return -EINVAL;
		*(int *)(void *)field = (int)number;
		return 0;
	case CP_OPTION_TIME:
		return parse_time(value, (int *)(void *)field);
	case CP_OPTION_SIZE:
		return parse_size(value, (uint64_t *)(void *)field);
	case CP_OPTION_BOOL:
		if (cp_parse_u64(value, &number) || number > 1)
			return -EINVAL;
		*(bool *)field = number;
		return 0;
	}
	return -EINVAL;
}

static const struct cp_option *find_option(const char *name, size_t length)
{
	for (const struct cp_option *option = cp_option_table; option->name; option++)
		if (strlen(option->name) == length &&
			memcmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

static void complain_unknown(
	const char *variable, size_t length, cp_option_complaint *complain, void *context)
{
	const char *names[sizeof(cp_option_table) / sizeof(cp_option_table[0])] = {NULL};
	char word[64], line[256];
	const char *nearest;

	for (unsigned i = 0; cp_option_table[i].name; i++)
		names[i] = cp_option_table[i].name;
	cp_format(word, sizeof(word), "%.*s", (int)length, variable);
	nearest = cp_nearest(word, names);
	if (nearest)
		cp_format(line, sizeof(line),
			"unknown variable %s: did you mean %s? (ignored)", word, nearest);
	else
		cp_format(line, sizeof(line),
			"unknown variable %s (ignored): "
			"`cachepeek help variables` lists them",
			word);
	complain(context, line);
}

/* Values that were there once. */
static const struct gone {
	const char *name, *value, *instead;
} gone[] = {
	{PREFIX "ENGINE", "shadow",
		" (it is gone: --sample, or " PREFIX
		"SAMPLE, has the simulated PMU estimate)"},
};

const char *cp_option_gone(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (strcmp(gone[i].name, name) == 0 && strcmp(gone[i].value, value) == 0)
			return gone[i].instead;
	return "";
}

bool cp_option_takes(const char *name, const char *value)
{
	const struct cp_option *option = find_option(name, strlen(name));
	struct cp_options unused;

	return option && store_value(&unused, option, value) == 0;
}

static void complain_value(const struct cp_option *option, const char *value,
	cp_option_complaint *complain, void *context)
{
	char line[320];

	cp_format(line, sizeof(line), "%s=%.80s is not %s%s: %s is used%s", option->name,
		value,
		option->type == CP_OPTION_COUNT || option->type == CP_OPTION_TIME ||
				option->type == CP_OPTION_SIZE
			? "a "
			: "one of ",
		option->choices ? option->choices : option->placeholder, option->fallback,
		option->type == CP_OPTION_TIME   ? " (10ms to 1h, such as 100ms or 2s)"
		: option->type == CP_OPTION_SIZE ? " (1M or more, such as 64M or 1G)"
						 : cp_option_gone(option->name, value));
	complain(context, line);
}

void cp_options_read(struct cp_options *options, char *const envp[],
	cp_option_complaint *complain, void *context)
{
	memset(options, 0, sizeof(*options));
	for (const struct cp_option *option = cp_option_table; option->name; option++)
		if (option->fallback)
			store_value(options, option, option->fallback);
	for (; envp && *envp; envp++) {
		const char *equals = strchr(*envp, '=');
		const struct cp_option *option;

		if (!equals || !cp_starts_with(*envp, PREFIX) ||
			cp_starts_with(*envp, PRIVATE))
			continue;
		option = find_option(*envp, (size_t)(equals - *envp));
		if (!option)
			complain_unknown(
				*envp, (size_t)(equals - *envp), complain, context);
		else if (store_value(options, option, equals + 1) < 0)
			complain_value(option, equals + 1, complain, context);
	}
}
