/* SPDX-License-Identifier: MIT
 *
 * A profile: the misses of a run by place, as the PID-N.profile files of its
 * directory (tools/sim/profile_file.h) and debugging information have them.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_H
#define CACHEPEEK_TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "output/metrics/weights.h"
#include "tools/profile/model/bursts.h"
#include "tools/profile/model/sampled.h"
#include "tools/sim/profile_file.h"

/* The counters that the simulated PMU has at each place. */
extern const struct cp_profile_counter {
	const char *name, *meaning;
} cp_profile_counters[CP_SIM_NCOUNTERS];

/* A thread, and all that it counted. */
struct cp_profiled_thread {
	int32_t pid, tid; /* tid 0: all beyond CP_PROFILE_THREADS */
	const char *name;
	uint64_t count[CP_SIM_NCOUNTERS]; /* sampled: as places have them */
	struct cp_estimate *estimates;    /* as in cp_profiled_site */
};

/* A mapped file, or memory without one. */
struct cp_profiled_module {
	int32_t pid;
	uint64_t start, end, offset;
	const char *path; /* "": no file */
	const char *name; /* for people: the last part of path, or [what it is] */
	size_t build_id_size;
	const uint8_t *build_id;
	uint64_t mapped_ns;         /* CLOCK_REALTIME; 0: not known */
	bool used;                  /* something is to be looked up there */
	struct cp_symbols *symbols; /* of path; NULL: there are none */
};

/* Where an instruction is.  Only module and offset are always known. */
struct cp_place_in_code {
	struct cp_profiled_module *module;
	uint64_t address;     /* as the file's own headers count; else in memory */
	const char *function; /* demangled; "": not known */
	uint64_t offset;      /* in the function */
	const char *file;     /* "": not known */
	unsigned line;
};

/* An instruction of a thread. */
struct cp_profiled_site {
	const struct cp_profiled_thread *thread;
	struct cp_place_in_code at;
	const uint64_t *count; /* CP_PROFILE_AT; sampled: enum cp_sampled_counter */
	const struct cp_estimate *estimates; /* by event; NULL: nothing was sampled */
	unsigned part; /* of the simulated PMU's sample: 1 and more (profile_file.h) */
	/* How far apart its misses were, and what would have been some: see
	 * profile_file.h. */
	int64_t stride;
	uint64_t strided, asked, misses, last;
	const uint64_t *spared;              /* simulated */
	const struct cp_profile_site *steps; /* streams and pairs; NULL: not known */
	size_t script; /* in `own`, plus one: what most of its misses were for; 0: none */
};

/* The use of some of an object's lines: a list. */
struct cp_profiled_use {
	const struct cp_profile_use *in;
	const struct cp_profiled_use *next;
};

/* A piece of memory that data was in. */
struct cp_profiled_object {
	enum cp_profile_data data;
	const struct cp_profiled_thread *thread;
	struct cp_profiled_module *module; /* NULL: none */
	uint64_t address, size, blocks;
	const char *name; /* for people */
	const char *file; /* where it is declared or allocated; "": not known */
	unsigned line;
	bool of_runtime;       /* it serves the runtime alone that runs the program */
	const uint64_t *count; /* as in cp_profiled_site; spared, too */
	const uint64_t *spared;
	const struct cp_estimate *estimates;
	struct cp_burst_parts
		*parts; /* of the simulated PMU's sample, in place of counts */
	const struct cp_profiled_use
		*use; /* of its lines (line_use.h); NULL: not known */
	/* Objects of the same name and place, if their use is known; NULL: no more. */
	const struct cp_profiled_object *first_of_name, *next_of_name;
	size_t source;            /* which file of the run */
	uint32_t id;              /* in that */
	size_t access, naccesses; /* the latest one, and how many */
};

/* The misses of an instruction of a thread in an object: those counters that
 * profile_file.h names, and no others. */
struct cp_profiled_access {
	struct cp_profiled_site site;
	size_t next; /* of the same object, in the array */
};

/* A call path of a thread, without what is called from it. */
struct cp_profiled_path {
	const struct cp_profiled_thread *thread;
	size_t parent; /* in the array, where it is before this; itself: there is none */
	struct cp_place_in_code at;
	const struct cp_profile_path *in;
	const struct cp_estimate *estimates; /* as in cp_profiled_site */
};

/* An instruction that uses the line, and of how many references this is known. */
struct cp_profiled_place {
	struct cp_place_in_code at;
	uint64_t references;
	bool writes;
};

/* A thread's use of a line that others use as well (sharing.h). */
struct cp_profiled_sharer {
	const struct cp_profiled_thread *thread;
	size_t nplaces; /* of the instructions that use it, these are known */
	struct cp_profiled_place *places;
	size_t source; /* whose numbers of objects are meant */
	const struct cp_profile_sharer *in;
};

struct cp_profile {
	struct cp_arena *arena;
	const char *command, *machine;
	const char *const *arguments; /* the words of the command; NULL: not known */
	size_t narguments;
	const char *cut;           /* how the run ended; NULL: by itself */
	const char *began, *host;  /* when (in UTC) and where it ran; NULL: not known */
	int pid;                   /* of the run's root; 0: not known */
	struct cp_weights weights; /* of a simulated machine */
	/* The machine's; 0: not known, or there is none. */
	uint64_t line, page, tlb_entries, l2_bytes, l1d_sets, l1d_ways;
	uint64_t dtlb_entries;                   /* of loads', in its first level */
	bool prefetches;                         /* L1D or L2 */
	uint64_t followed_pages, followed_bytes; /* by prefetchers; 0: none, any */
	size_t nprocesses, nthreads, nmodules, nsites, nobjects, nscripts, nown,
		naccesses, nsharers, npaths, nwarnings;
	struct cp_profiled_thread *threads;
	struct cp_profiled_module *modules;
	struct cp_profiled_site *sites;
	struct cp_profiled_object *objects;
	/* The counts of threads in lines of Python, which are in modules of their file's
	 * name: the same misses as in `sites`. */
	struct cp_profiled_site *scripts;
	struct cp_profiled_site *own; /* the same, by lines that are in no library */
	struct cp_profiled_access *accesses;
	struct cp_profiled_sharer *sharers;
	struct cp_profiled_path *paths;
	bool without_sites;                     /* there are call paths only */
	const struct cp_profile_slices *slices; /* NULL: nobody looked for sharers */
	const char **warnings;
	const char *unnamed;      /* the one of code without names; NULL: none */
	bool has_line_use;        /* of the lines of a sample, at least */
	bool has_all_line_use;    /* --line-use */
	uint64_t lines_looked_at; /* in these */
	struct cp_bursts *bursts; /* CACHEPEEK_SAMPLE; NULL: nothing was sampled */
	bool inexact;      /* places do not add up to the counts; a warning says why */
	bool sampled;      /* by the kernel, not simulated */
	bool translations; /* samples of memory that missed a TLB are the misses */
	struct cp_sampling sampling[CP_SAMPLED_EVENTS];
};

/* Reads what the directory has.  NULL with one line in error.  Everything lives
 * in arena, whose out_of_memory must be set. */
struct cp_profile *cp_profile_read(
	struct cp_arena *arena, const char *directory, char *error, size_t error_size);

/* From the JSON that a report was written to, and of which measurement it is: places
 * as they were resolved then, all as of one thread; no data.  As above. */
struct cp_profile *cp_profile_read_json(struct cp_arena *arena, const char *path,
	const char **measurement, char *error, size_t error_size);

/* One with nothing in it. */
struct cp_profile *cp_profile_new(struct cp_arena *arena);

/* Finds functions and lines for all sites, and names for all data; what that opens is
 * closed by the other. */
void cp_profile_resolve(struct cp_profile *profile);
#define CP_PROFILE_UNREAD ": its line numbers cannot be read: "
/* The rest of a warning about the module's lines, or about any module's (NULL), from
 * "its" on; NULL: there is none. */
const char *cp_profile_unread(
	const struct cp_profile *profile, const struct cp_profiled_module *module);
void cp_profile_close(struct cp_profile *profile);

/* ---- for those who read files ---- */

/* An array of n elements with room for one more. */
void *cp_profile_grow(struct cp_arena *arena, void *array, size_t n, size_t each);
/* The files of a directory whose names end so, by name. */
size_t cp_profile_names(
	struct cp_arena *arena, int dir, const char *ending, const char ***names);
/* All of a regular file, in the arena; NULL: it cannot be read. */
char *cp_profile_file(
	struct cp_profile *profile, int dir, const char *name, size_t *size);
struct cp_profiled_thread *cp_profile_new_thread(struct cp_profile *profile);
struct cp_profiled_module *cp_profile_new_module(struct cp_profile *profile);
struct cp_profiled_site *cp_profile_new_site(struct cp_profile *profile);
struct cp_profiled_object *cp_profile_new_object(struct cp_profile *profile);

void cp_profile_warn(struct cp_profile *profile, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
