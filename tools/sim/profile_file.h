/* SPDX-License-Identifier: MIT
 *
 * The file in which the simulated PMU leaves the misses of one process, by the
 * instruction that had them: PID-N.profile in the run directory.  The tool (GPL)
 * writes it, output/ (MIT) reads it, and both include this.
 *
 * The file is mapped and written in place, so that it is whole at any moment,
 * also after a SIGKILL.  Behind the header there are entries in no particular
 * order; none lies across a multiple of CP_PROFILE_CHUNK, and where kind is
 * CP_PROFILE_NOTHING the rest of the chunk is empty.  Numbers are the host's.
 */
#ifndef CACHEPEEK_SIM_PROFILE_FILE_H
#define CACHEPEEK_SIM_PROFILE_FILE_H

#include <stdint.h>

#include "tools/sim/request.h"

#define CP_PROFILE_MAGIC "cpeekprf"
#define CP_PROFILE_VERSION 18
#define CP_PROFILE_CHUNK (256u << 10)

/* The counters that are kept by instruction. */
#define CP_PROFILE_FIRST CP_SIM_l1i_misses
#define CP_PROFILE_COUNTERS (CP_SIM_dtlb_store_misses + 1 - CP_PROFILE_FIRST)
#define CP_PROFILE_AT(counter) (CP_SIM_##counter - CP_PROFILE_FIRST)

/* Lines that would have missed if no prefetcher had brought them: of L1D, by loads and by
 * stores, and of L2. */
enum {
	CP_SPARED_L1D_LOADS,
	CP_SPARED_L1D_STORES,
	CP_SPARED_L2_LOADS,
	CP_SPARED_L2_STORES,
	CP_PROFILE_SPARED
};

enum cp_profile_kind {
	CP_PROFILE_NOTHING,
	CP_PROFILE_THREAD,
	CP_PROFILE_MODULE,
	CP_PROFILE_SITE,
	CP_PROFILE_OBJECT,
	CP_PROFILE_SHARER,
	CP_PROFILE_SLICES,
	CP_PROFILE_PATH,
	CP_PROFILE_USE,
	CP_PROFILE_ACCESS,
	CP_PROFILE_SAMPLE,
	CP_PROFILE_SCRIPT,
};

struct cp_profile_entry {
	uint32_t kind; /* written last */
	uint32_t size; /* of all of it, a multiple of 8 */
};

#define CP_PROFILE_LATELY 256

struct cp_profile_site {
	struct cp_profile_entry entry;
	uint32_t thread, module; /* module 0: not known */
	uint64_t instruction;
	uint64_t part; /* of a sample: see cp_profile_sample */
	uint64_t count[CP_PROFILE_COUNTERS];
	uint64_t spared[CP_PROFILE_SPARED];
	/* How far apart in memory the data was that missed L1D, or was spared that, one
	 * after the other: the distance that most often followed itself, how often (since
	 * it was that), of so many references; so many of them missed; and where the last
	 * one was. */
	int64_t stride;
	uint64_t strided, asked, misses, last;
	/* Streams that are gone through in step: so many of its own such references lay
	 * between that to a line and that to the line behind it (before it), most often,
	 * and so often. */
	uint64_t streams, in_step;
	/* So many were to a line beside one that one of the CP_PROFILE_LATELY before
	 * asked for, in whatever order. */
	uint64_t goes_on;
	/* Pairs: the reference before, of whichever instruction of the thread, was that
	 * far away on the line beside, neither was beside others, and this one was at
	 * that byte of its line; how often, and what divides the distances between pairs.
	 */
	int64_t beside;
	uint64_t beside_at, pairs, paired, pair_size;
	/* Nodes: of so many such references that were looked at, so many were to where
	 * a pointer in or beside the line of the one before led. */
	uint64_t looked, chained;
	/* The line of Python (its cp_profile_script) that most of those references were
	 * made in, and so many (since it was that). */
	uint64_t script, scripted;
};

/* The kinds of memory that data is in. */
enum cp_profile_data {
	CP_DATA_UNKNOWN,
	CP_DATA_VARIABLE,   /* a symbol of module: address as its file counts, size */
	CP_DATA_MODULE,     /* of module, in no symbol; size 1: it can be written */
	CP_DATA_HEAP,       /* blocks that were allocated by the call that returns to
			     * address; size: of each, 0: of various small sizes */
	CP_DATA_HEAP_OTHER, /* what is in no block: bookkeeping, free memory */
	CP_DATA_STACK,      /* of thread */
	CP_DATA_MAPPED,     /* a mapping: module, if it is of a file */
	CP_DATA_MMAP,       /* one without a file, by the call as a heap's blocks are */
	CP_DATA_TLS,        /* a thread-local variable of module: address is where in
			     * its block, size */
	CP_DATA_KINDS,
};

/* Counts are by data here, without those of code. */
struct cp_profile_object {
	struct cp_profile_entry entry;
	uint32_t data; /* enum cp_profile_data */
	uint32_t thread, module;
	uint32_t id; /* from 1 on */
	uint64_t address, size;
	uint64_t blocks; /* how often it was allocated */
	uint64_t count[CP_PROFILE_COUNTERS], spared[CP_PROFILE_SPARED];
};

/* Blocks from this size on are told apart by their size. */
#define CP_PROFILE_LARGE 4096

/* The use of a line of memory by a thread, where another thread used it, too, one of
 * them wrote, and several threads lived (--sharing).  A line whose memory was given out
 * anew is another one: see incarnation. */
#define CP_PROFILE_PARTS 8

/* An instruction that uses the line.  how: whether it writes, its module, and how often
 * it was seen to since it has a place here, in this order from the highest bit on, so
 * that those that write most are the largest once the module is masked. */
struct cp_profile_place {
	uint64_t instruction; /* 0: none */
	uint64_t how;
};

#define CP_PROFILE_PLACES 4
#define CP_PLACE_WRITES ((uint64_t)1 << 63)
#define CP_PLACE_TIMES_BITS 44 /* days of one instruction's references to one line */
#define CP_PLACE_TIMES (((uint64_t)1 << CP_PLACE_TIMES_BITS) - 1)
#define CP_PLACE_MODULES (((uint64_t)1 << (63 - CP_PLACE_TIMES_BITS)) - 1)

struct cp_profile_sharer {
	struct cp_profile_entry entry;
	uint64_t line; /* address */
	uint32_t incarnation, thread;
	uint64_t loads, stores; /* references; a read-modify-write is both */
	/* If threads take turns (--quantum), each on a core of its own: how often it
	 * found the line modified by another, and took it away from others. */
	uint64_t hitm, invalidations;
	/* A bit for each 64th of the line. */
	uint64_t read, written;
	/* The line in eight parts: references that touch them, and the objects there (0:
	 * the thread did not touch it). */
	uint64_t part[CP_PROFILE_PARTS];
	uint32_t object[CP_PROFILE_PARTS];
	/* The places that use it most, nearly; those that write before those that read.
	 */
	struct cp_profile_place place[CP_PROFILE_PLACES];
};

/* One for all of them. */
struct cp_profile_slices {
	struct cp_profile_entry entry;
	uint32_t quantum; /* data references of a turn; 0: nobody asked */
	uint32_t line;    /* bytes of L1D's */
	uint64_t lost;    /* references to lines beyond the limit */
	uint64_t whole;   /* 0: what depends on turns is not there (yet) */
};

/* How much of the lines that were fetched into L1D for an object was used until they
 * went (--line-use).  Of a variable there is one for each slot: its lines, from the one
 * that it begins in, are in slots 0, 1, ... and after the last one in slot 0 again.  So
 * many slots have a whole number of elements of most sizes (2^8 * 3^2 * 5 * 7 bytes).
 * Where there are more lines, others may be in the first and in the last one, too: these
 * have slots of their own. */
#define CP_PROFILE_USE_SLOTS 1260
#define CP_PROFILE_USE_FIRST CP_PROFILE_USE_SLOTS
#define CP_PROFILE_USE_LAST (CP_PROFILE_USE_SLOTS + 1)

struct cp_profile_use {
	struct cp_profile_entry entry;
	uint32_t object; /* 0: none */
	uint32_t line;   /* bytes */
	uint32_t slot;   /* of a variable */
	uint32_t begin;  /* the same: its first byte, in its first line */
	uint64_t seen; /* of a sample, so many lines, which stand for `fetched`; 0: of all
			*/
	uint64_t fetched;
	/* In how many of these each 64th (each byte of a shorter line) was used. */
	uint64_t used[64];
	/* The same of lines of which less than three quarters were used: filling all of
	 * some data in the beginning does not hide how it is used later. */
	uint64_t sparse, used_of_sparse[64];
};

/* The misses of an instruction of a thread in an object: of each object, these add up
 * to what it has of those counters, except for instructions for which there was no
 * room. */
#define CP_PROFILE_ACCESSED 5
#define CP_PROFILE_ACCESS_COUNTERS                                                       \
	CP_PROFILE_AT(l1d_load_misses), CP_PROFILE_AT(l1d_store_misses),                 \
		CP_PROFILE_AT(l1d_bypasses), CP_PROFILE_AT(dtlb_load_misses),            \
		CP_PROFILE_AT(dtlb_store_misses)

struct cp_profile_access {
	struct cp_profile_entry entry;
	uint32_t thread, module; /* of the instruction, as its site has them */
	uint64_t instruction;
	uint32_t object, part; /* the same */
	uint64_t count[CP_PROFILE_ACCESSED];
};

/* The counts of a thread while it was in a line of Python, whichever instructions of the
 * interpreter and of libraries had them; and the line that called it, directly or not,
 * which is in the innermost function that is in no library of Python's (the same one if
 * it is in none itself, or none is).  Not with --sample. */
struct cp_profile_script {
	struct cp_profile_entry entry;
	uint32_t thread;
	uint32_t id;             /* from 1 on */
	uint32_t line, own_line; /* 0: the compiler gave it none */
	uint64_t count[CP_PROFILE_COUNTERS], spared[CP_PROFILE_SPARED];
	/* Names of the function and of its file, and of those of own_line, each
	 * NUL-terminated: UTF-8. */
	char names[];
};

/* With --sample, one for all threads: what was sampled, as far as bursts are over.  An
 * instruction has a site for each part (1 and more: the one before that) in which it had
 * misses; what objects have is in their accesses alone. */
struct cp_profile_sample {
	struct cp_profile_entry entry;
	uint32_t sets, groups; /* so many of the groups of sets were simulated */
	uint64_t count[CP_SIM_SAMPLE_WORDS];
};

/* The counts of a call path (--call-paths): a node of a tree, by itself, without the
 * functions that it calls.  The nodes of all threads add up to what their process has
 * counted. */
struct cp_profile_path {
	struct cp_profile_entry entry;
	uint32_t id, parent; /* from 1 on; a node's parent is before it, 0: a root */
	uint32_t thread, module;
	uint64_t function; /* where it begins; 0: a thread, outside of all calls */
	uint64_t calls;    /* a function that calls itself is one node */
	uint64_t folded;   /* calls of other functions, for which there was no node */
	uint64_t passage;  /* 1: only leads from its caller to what it calls */
	uint64_t count[CP_SIM_NCOUNTERS];
};

/* The most nodes that a process has. */
#define CP_PROFILE_PATHS 100000

struct cp_profile_header {
	char magic[8];
	uint32_t version;
	uint32_t counters; /* CP_SIM_NCOUNTERS of who wrote it */
	int32_t pid;
	uint32_t line; /* bytes; page: the same */
	uint32_t page;
	uint32_t without_sites;      /* 1: there are call paths only */
	struct cp_profile_site lost; /* misses for which there was no room */
	/* The machine: pages that its data TLBs hold together, bytes of L2 (0: there
	 * is none). */
	uint64_t tlb_entries, l2_bytes;
	uint32_t l1d_sets, l1d_ways;
	/* Have L1D or L2 prefetchers; how many pages these follow at once, and how long
	 * steps; 0: none, or no such limit. */
	uint32_t prefetches, followed_pages, followed_bytes;
	uint32_t dtlb_entries; /* of loads', in its first level */
	/* An interpreter of Python that ran, 0x030b for 3.11 (0: none; 1: one
	 * before that, which do not say), and whether its lines are there. */
	uint32_t python, has_scripts;
};

/* Threads beyond CP_PROFILE_THREADS share the last entry, whose tid is 0. */
#define CP_PROFILE_THREADS 1024

struct cp_profile_thread {
	struct cp_profile_entry entry;
	uint32_t id; /* from 0 on */
	int32_t tid;
	/* All that was counted, by the counters' own account: as of the end of
	 * its last time slice. */
	uint64_t count[CP_SIM_NCOUNTERS];
};

/* A mapping that instructions were executed from.  One that was unmapped and
 * came back, here or elsewhere, is another. */
struct cp_profile_module {
	struct cp_profile_entry entry;
	uint32_t id; /* from 1 on */
	uint32_t build_id_size;
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* of start in the file */
	uint8_t build_id[32];
	char path[]; /* NUL-terminated; "": no file */
};

#endif
