/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every machine once more, as plainly as possible: what model_test compares with.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "model/huge.h"
#include "model/model.h"
#include "model/orders.h"

#define REF_CORES 4
#define REF_AREAS 2048 /* more than addresses are picked from, in pages of 2 MB */
#define REF_PAGES (1u << 18)

struct ref_way {
	uint64_t key, used;
	int valid, dirty, prefetched;
	int age;    /* QLRU: of a way that is valid; others count as 3 */
	int recent; /* MRU: used since all others were; also of a way that is not valid */
	int huge;   /* of a TLB */
	int half[2]; /* of L1D: which half is dirty */
};

struct ref_cache {
	struct geometry g;
	uint64_t line; /* bytes; of a TLB: of a page */
	struct ref_way *way;
	uint8_t *tree;  /* tree-PLRU: 256 nodes for each set */
	uint32_t *turn; /* round-robin, for each set */
	uint64_t random;
	int evicts; /* what was taken last was no empty way */
	int lost;   /* of a duel: where its first misses more than its second */
	int others; /* lines that had the second's age, or would have had */
	/* Counts prefetched lines that leave unused; before it stands what counts those
	 * that are used; 0: nothing is prefetched. */
	int useless;
};

/* An area of 2 MB. */
struct ref_area {
	uint64_t number;
	enum huge_answer state; /* ABSENT: nobody has said */
};

struct ref_stream {
	uint64_t page, last, used, reached;
	int64_t stride;
	int twice;
};

struct ref_stride {
	uint64_t instruction, last;
	int64_t bytes, lines;
};

struct ref_region {
	uint64_t number, instruction, first, lines, used;
};

struct ref_pattern {
	uint64_t instruction, first, lines;
	int twice;
};

/* The state of any prefetcher. */
struct ref_prefetcher {
	struct ref_stream stream[64];
	struct ref_stride stride[1024];
	struct ref_region region[16];
	struct ref_pattern pattern[1024];
	uint64_t seen[64]; /* lines, the latest first */
	uint32_t nseen;
	int balance;
};

#define REF_BUFFERS 12 /* of non-temporal stores */

struct ref_buffer {
	uint64_t line;
	int used;
	uint8_t byte[256];
};

struct ref_core {
	struct ref_cache l1i, l1d, itlb, dtlb, stlb, itlb2, dtlb2;
	struct ref_cache itlb_2m, dtlb_2m, stlb_2m, itlb2_2m, dtlb2_2m;
	struct ref_prefetcher prefetcher[3][PREFETCHERS]; /* of L1I, L1D, L2 */
	int to_train; /* L2's, by a prefetch instruction */
	uint64_t last_code, now, count[CP_SIM_NCOUNTERS];
	int cluster, group, socket; /* around one L2, one last level */
	struct ref_buffer buffer[REF_BUFFERS];
	uint32_t next_buffer;
};

struct ref_system {
	struct machine m;
	struct ref_cache llc[REF_CORES], l2[REF_CORES];
	struct ref_core core[REF_CORES];
	int ncores;
	uint64_t now;
	uint64_t instruction, address;             /* of the reference; 0: nobody says */
	enum huge_answer (*ask)(uint64_t address); /* NULL: no page is huge */
	struct ref_area area[REF_AREAS];
	int nareas;
	/* Pages that somebody has touched, and on which socket that was. */
	struct {
		uint64_t number;
		int socket;
	} * home;
};

void ref_init(struct ref_system *s, const struct machine *m, int ncores);
void ref_free(struct ref_system *s);
void ref_data(
	struct ref_system *s, int core, uint64_t addr, uint32_t size, enum access kind);
void ref_bypass(struct ref_system *s, int core, uint64_t addr, uint32_t size);
void ref_code(struct ref_system *s, int core, uint64_t unit);
void ref_order(struct ref_system *s, int core, uint64_t addr, enum cache_order order);
void ref_prefetch(struct ref_system *s, int core, uint64_t addr, enum cache_order order);
void ref_stream(struct ref_system *s, int core, uint64_t addr, uint32_t size);
void ref_forget(struct ref_system *s, uint64_t addr);
/* As at the next miss there. */
void ref_notice(struct ref_system *s, uint64_t addr);

#endif
