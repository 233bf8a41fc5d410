/* SPDX-License-Identifier: MIT
 *
 * The environment variables: one table for parsing, --help and the man page.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_OPTIONS_H
#define CACHEPEEK_BASE_COUNTERS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum cp_engine_choice { CP_CHOOSE_AUTO, CP_CHOOSE_PERF, CP_CHOOSE_SIM };
enum cp_schedule { CP_SCHEDULE_MULTIPLEX, CP_SCHEDULE_ROTATE, CP_SCHEDULE_RANKS };
enum cp_profile_choice {
	CP_PROFILE_NONE,
	CP_PROFILE_DCACHE,
	CP_PROFILE_DTLB,
	CP_PROFILE_ICACHE,
	CP_PROFILE_SHARING
};
enum cp_cpu { CP_CPU_AUTO, CP_CPU_VALGRIND, CP_CPU_HOST };
enum cp_children { CP_CHILDREN_FOLLOW, CP_CHILDREN_IGNORE, CP_CHILDREN_FORCE };

/* Strings point into the environment that was read; NULL where not set and without
 * default. */
struct cp_options {
	const char *events;
	const char *groups;
	const char *let;
	int engine;   /* enum cp_engine_choice */
	int schedule; /* enum cp_schedule */
	int pass;
	const char *machine;
	const char *reproducible;
	int timing; /* enum cp_timing of machine.h */
	const char *what_if;
	const char *sweep;
	const char *working_set;
	const char *sample;
	int profile; /* enum cp_profile_choice */
	bool call_paths;
	bool line_use;
	const char *quantum;
	const char *output;
	const char *dir;
	uint64_t limit; /* bytes */
	int children;   /* enum cp_children */
	int cpu;        /* enum cp_cpu */
	const char *regions;
	int mpi_timeout; /* seconds */
	bool mpi_regions;
	bool openmp;
	bool sparse;
	int interval; /* ms; 0: no time series */
	int verbose;  /* 0..3 */
	bool disable;
};

enum cp_option_type {
	CP_OPTION_TEXT,
	CP_OPTION_CHOICE,
	CP_OPTION_LEVEL,
	CP_OPTION_COUNT,
	CP_OPTION_BOOL,
	CP_OPTION_TIME, /* 100ms, 2s: in ms; off: 0 */
	CP_OPTION_SIZE, /* 64M, 1G: in bytes */
};

struct cp_option {
	const char *name; /* "CACHEPEEK_EVENTS" */
	enum cp_option_type type;
	unsigned offset;         /* in struct cp_options */
	const char *choices;     /* "auto|perf|sim": the value is the index */
	const char *fallback;    /* default, as text; NULL: none */
	const char *placeholder; /* for help: "EVENT,…" */
	const char *help;        /* one line */
};

/* Ends with a NULL name. */
extern const struct cp_option cp_option_table[];

/* Called with one line (no newline) for each variable that is misspelt or has
 * a value that cannot be used; the default stands for it. */
typedef void cp_option_complaint(void *context, const char *line);

/* Reads every CACHEPEEK_* variable of envp.  Allocates nothing. */
void cp_options_read(struct cp_options *options, char *const envp[],
	cp_option_complaint *complain, void *context);

/* Is this a value that the variable of this name takes?  Text always is. */
bool cp_option_takes(const char *name, const char *value);

/* Behind a complaint about that value of that variable: what there is in place of one
 * that was there once; "": it never was. */
const char *cp_option_gone(const char *name, const char *value);

/* The options of this process, which the constructor reads once. */
extern struct cp_options cp_options;

#endif
