/* SPDX-License-Identifier: MIT
 *
 * The regions that counts belong to: each thread's tree of regions and the stack of those
 * that are open.  Turns two readings into a delta on a path; opens no event and reads no
 * clock: readings and times come from the caller.
 *
 * A tree belongs to one thread; no function here may run on the same tree
 * twice at a time.
 */
#ifndef CACHEPEEK_REGIONS_TREE_H
#define CACHEPEEK_REGIONS_TREE_H

#include <stdbool.h>

#include "base/counts.h"
#include "regions/names.h"
#include "regions/record_write.h"

/* How the sums of a run are laid out: the same for all trees. */
struct cp_layout {
	uint32_t ncounters, nquantities, ngroups;
	const struct cp_quantity_terms {
		uint32_t nterms;
		const struct cp_term *terms;
	} * quantities;
	const struct cp_pair_cost *cost; /* NULL: not known, nothing is subtracted */
	bool sparse;              /* of short regions, one execution in some is counted */
	uint32_t nrotated;        /* the first so many groups take turns */
	const uint32_t *group_of; /* [ncounters]; only if nrotated */
	bool corrected; /* counters may run backwards: they correct what they expected */
};

/* Readings may have failed: what they bound is not counted, and flagged. */

/* The cost of one begin/end pair: the counts between its own two readings, and
 * in all, which is what the region around it sees; and in all where the execution
 * is not counted. */
struct cp_pair_cost {
	uint64_t inside[CP_MAX_COUNTERS], whole[CP_MAX_COUNTERS],
		skipped[CP_MAX_COUNTERS];
	uint64_t inside_ns, whole_ns, skipped_ns;
	bool counts; /* some counter of these is not 0 */
};

/* Regions that are nested more deeply have no path of their own: what they
 * count is the innermost recorded one's. */
#define CP_TREE_DEPTH 250

struct cp_node;
struct cp_frame;
struct cp_tree_entry;

struct cp_tree {
	const struct cp_layout *layout;
	struct cp_recording *record;
	uint64_t thread;      /* record offset of its thread item */
	uint64_t region_size; /* in the record, without what a fold adds */
	bool folds;           /* stands for many threads: regions end in a cp_folded */
	bool plain;           /* its executions may end in tree_plain.c… */
	bool one_of_each;     /* …with one counter, quantity and group */
	struct cp_node *root;
	struct cp_frame *top;        /* innermost open region; NULL: none */
	unsigned depth;              /* of open regions */
	struct cp_frame *begin;      /* the root's start */
	struct cp_node *nodes;       /* all, for cp_tree_drop */
	struct cp_tree_entry *table; /* hash of the nodes by parent and name */
	struct cp_frame *ranges;     /* open, in no order */
	struct cp_frame *spare;      /* for the next begins */
	uint64_t npairs, nskipped;   /* begin/end pairs that are done */
	struct cp_journal_item *journal;
	/* Rotation: which group has its turn, how often one was drawn, and for
	 * which execution, NULL if that has ended. */
	unsigned turn;
	uint64_t draws;
	const struct cp_frame *unit;
	uint64_t random;
	unsigned pauses;                /* that were not resumed */
	struct cp_frame *paused;        /* the reading at the first of them */
	struct cp_frame *rest_frame;    /* for rest; NULL: not prepared */
	struct cp_frame *rest;          /* the reading where it began; NULL: no rest */
	const struct cp_frame *resting; /* the outermost region that rests */
	bool root_is_newer;             /* than the rest */
	struct cp_tree_booked *booked;  /* tree_exec.c; NULL: no exec is under way */
};

/* Misuses of markers by the program, for a warning. */
enum cp_misuse {
	CP_MISUSE_NONE,
	CP_MISUSE_NO_BEGIN,   /* end of a region that is not open: ignored */
	CP_MISUSE_WRONG_NAME, /* inner regions were still open: closed too */
	CP_MISUSE_NO_MEMORY,  /* the region is not recorded */
};

/* Where nothing was counted yet: 8 KB, which stacks may not have. */
extern const struct cp_reading cp_no_reading __attribute__((visibility("hidden")));

/* Starts the tree with its root region.  0 or -ENOMEM. */
int cp_tree_start(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread, const struct cp_reading *reading,
	uint64_t now_ns);

/*
 * Finds or makes the node of `name` under the innermost open region and opens
 * it; its start is read into the returned reading (set by the caller after
 * this call, so that our own work is before it).  NULL: out of memory, or nested
 * too deeply; an end is expected all the same.
 *
 * The markers of another tool have a tag of their own; ours is 0: an end matches only a
 * begin of its tag.  Other tools' regions that are closed on the way are no misuse.  name
 * NULL: whichever of that tag is innermost. CP_TAG_UNWRITTEN in a tag: the program holds
 * no end that could be missing, as those of functions, which exit() leaves open.
 */
#define CP_TAG_UNWRITTEN (1ull << 63)
/* Begun and ended by who watches the program: CP_REGION_FUNCTION. */
#define CP_TAG_WATCHED (1ull << 62)

struct cp_reading *cp_tree_begin_tagged(
	struct cp_tree *tree, struct cp_name *name, uint64_t tag);
enum cp_misuse cp_tree_end_tagged(struct cp_tree *tree, const struct cp_name *name,
	uint64_t tag, const struct cp_reading *reading, uint64_t now_ns);

/*
 * Ends that region alone, or close_own: those of its tag inside it, too.  Others
 * that are open inside it go on outside it: each has one execution on the old
 * path, and from here on one on the new.
 */
enum cp_misuse cp_tree_end_loosely(struct cp_tree *tree, const struct cp_name *name,
	uint64_t tag, bool close_own, const struct cp_reading *reading, uint64_t now_ns);

/* Closes the innermost of that tag for a while: what is counted until it is
 * begun again is not its own; then cp_tree_is_again says that the innermost, of that
 * name, is no new execution. */
void cp_tree_suspend(struct cp_tree *tree, uint64_t tag, const struct cp_reading *reading,
	uint64_t now_ns);
void cp_tree_is_again(struct cp_tree *tree, const struct cp_name *name);

/*
 * Ranges overlap with anything: they hang off the root, have nothing inside and
 * are no part of the root's nested counts (CP_REGION_OVERLAPPING).  id is the
 * caller's, unique among the open ones.
 */
struct cp_reading *cp_tree_range_begin(
	struct cp_tree *tree, struct cp_name *name, uint64_t id);
void cp_tree_range_time(struct cp_tree *tree, uint64_t now_ns);
enum cp_misuse cp_tree_range_end(struct cp_tree *tree, uint64_t id,
	const struct cp_reading *reading, uint64_t now_ns);

/* Is the execution of the innermost open region not to be counted?  Then neither
 * its begin nor its end needs a reading, or the time. */
bool cp_tree_top_is_skipped(const struct cp_tree *tree);
static inline bool cp_tree_is_skipping(const struct cp_tree *tree)
{
	return __builtin_expect(tree->layout->sparse, 0) && cp_tree_top_is_skipped(tree);
}

/* Counts none of the next executions of that region, in the innermost open one: to
 * find out what that costs. */
void cp_tree_skip(struct cp_tree *tree, const struct cp_name *name, uint32_t count);

/* The time of the begin just made. */
void cp_tree_begin_time(struct cp_tree *tree, uint64_t now_ns);

/* ---- rotation: rotate.c ---- */

/* The group that has its turn when counting begins, and what chance begins with. */
void cp_tree_rotate_from(struct cp_tree *tree, unsigned group, uint64_t seed);

/*
 * Which group is to count the execution that was just begun (before its reading
 * is taken); -1: the one that counts already.  Draws for executions of regions
 * that are not their first in this thread, unless one they lie in was drawn for.
 */
int cp_tree_turn(struct cp_tree *tree);

/* cp_tree_begin_tagged, if that needs no new memory; else NULL and nothing. */
struct cp_reading *cp_tree_begin_again(
	struct cp_tree *tree, struct cp_name *name, uint64_t tag);

/* How many regions are open down to the innermost of that tag, itself counted; 0: none is
 * of that tag. */
unsigned cp_tree_open_depth(const struct cp_tree *tree, uint64_t tag);

/* cp_tree_end_tagged, if that closes nothing else; else false and nothing. */
bool cp_tree_end_innermost(struct cp_tree *tree, const struct cp_name *name, uint64_t tag,
	const struct cp_reading *reading, uint64_t now_ns);

/* Events between pause and resume belong to no open region, only to the root.  Pauses
 * nest. */
void cp_tree_pause(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns);
void cp_tree_resume(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns);

/* While paused: the reading (and time) that every marker is to use. */
const struct cp_reading *cp_tree_frozen(const struct cp_tree *tree, uint64_t *now_ns);

/* The innermost open region's name; NULL: none is open. */
const struct cp_name *cp_tree_innermost(const struct cp_tree *tree);

/* A number of the innermost open region that is recorded, which no other of the process's
 * trees has; 0: none is open, or its events are the root's. */
uint64_t cp_tree_number(const struct cp_tree *tree);

/* ---- teams: one region, executed by several threads ---- */

/* Where a thread is, for the threads that it shares a region with: valid until
 * its tree is dropped. */
const struct cp_node *cp_tree_place(const struct cp_tree *tree);

/*
 * cp_tree_begin_tagged, with each execution counted, however short, under the path of a
 * place in another thread's tree (NULL: the root).  The regions on that path are not open
 * here: what this one counts is theirs, too (CP_REGION_ELSEWHERE).
 */
struct cp_reading *cp_tree_begin_at(struct cp_tree *tree, const struct cp_node *place,
	struct cp_name *name, uint64_t tag);

/* Can it be begun there without any new memory? */
bool cp_tree_can_begin_at(const struct cp_tree *tree, const struct cp_node *place,
	const struct cp_name *name);

/* Once, before the first rest.  false: out of memory. */
bool cp_tree_prepare_rest(struct cp_tree *tree);

/*
 * A rest: what follows belongs to none of the regions from the innermost of that
 * tag on, inwards, until they go on; they may as well be settled: then they have
 * ended where the rest began.  The reading there is for the caller to fill in,
 * the time comes next.  NULL: it rests already, or has no such region.
 */
struct cp_reading *cp_tree_rest(struct cp_tree *tree, uint64_t tag);
void cp_tree_rest_time(struct cp_tree *tree, uint64_t now_ns);
void cp_tree_go_on(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns);
void cp_tree_end_rest(struct cp_tree *tree);

static inline bool cp_tree_rests(const struct cp_tree *tree)
{
	return tree->rest != NULL;
}

/* Brings the root region up to date.  close_open: closes what is open and marks
 * it as left open. */
void cp_tree_finish(struct cp_tree *tree, const struct cp_reading *reading,
	uint64_t now_ns, bool close_open);

/* Before an exec: what is open is counted to there, and marked; if the exec fails it is
 * taken back, and goes on. */
void cp_tree_book_open(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns);
void cp_tree_unbook(struct cp_tree *tree);

/* Starts a tree into which others are folded; no region is ever begun in it. */
int cp_tree_start_folded(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread);

/* Moves what is recorded in `from`, which is finished, into `into`, and gives
 * the space in the record back; `from` is then only to be dropped.  false: out
 * of memory, nothing has happened. */
bool cp_tree_fold(struct cp_tree *into, struct cp_tree *from);

/* Gives the tree's memory back; the record keeps what it has. */
void cp_tree_drop(struct cp_tree *tree);

/* Returns the reading that the root's counts are measured from, to be filled by a
 * caller that wants its own work to lie before it; and its offset in the record. */
struct cp_reading *cp_tree_root_start(struct cp_tree *tree);
uint64_t cp_tree_root_offset(const struct cp_tree *tree);

/* For how long the first group of events was enabled, as far as it is known. */
uint64_t cp_tree_time_enabled(const struct cp_tree *tree);

/* In a fork child: opens the regions that are open in the parent's tree, from
 * the same reading as the root.  parent's memory is not given back. */
int cp_tree_reopen(struct cp_tree *child, const struct cp_tree *parent);

/* In a fork child, before any tree is touched. */

#endif
