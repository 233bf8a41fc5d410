/* SPDX-License-Identifier: MIT
 *
 * Decodes what CPUID tells of caches and TLBs, from leaves wherever they are.
 */
#ifndef CACHEPEEK_BASE_MACHINE_CPUID_H
#define CACHEPEEK_BASE_MACHINE_CPUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/machine.h"

enum { CP_EAX, CP_EBX, CP_ECX, CP_EDX };

struct cp_cpuid_leaf {
	uint32_t leaf, subleaf, reg[4];
};

/* Leaves that are not among them tell nothing. */
struct cp_cpuid {
	const struct cp_cpuid_leaf *leaves;
	size_t count;
};

enum cp_told {
	CP_UNTOLD,      /* nothing is known of it, and why says why */
	CP_TOLD,        /* its sets and ways */
	CP_NONE,        /* the processor has no such level */
	CP_SMALL_PAGES, /* of huge pages: they share the entries of small ones */
};

/* The pages that a TLB holds. */
enum { CP_PAGES_4K = 1, CP_PAGES_2M = 2, CP_PAGES_1G = 4 };

struct cp_told_level {
	enum cp_told told;
	uint32_t sets, ways, line;
	unsigned pages;
	const char *why;
};

struct cp_cpuid_told {
	char vendor[13];
	unsigned family, model;
	uint8_t kind; /* of a hybrid's core: CP_PERFORMANCE_CORE or CP_EFFICIENT_CORE;
		       * else 0
		       */
	struct cp_told_level level[CP_NLEVELS];
};

enum { CP_EFFICIENT_CORE = 0x20, CP_PERFORMANCE_CORE = 0x40 };

void cp_cpuid_decode(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told);

/* The registers of a leaf; NULL: it is not among them. */
const uint32_t *cp_cpuid_find(
	const struct cp_cpuid *cpuid, uint32_t leaf, uint32_t subleaf);

/* ---- the parts of cp_cpuid_decode() ---- */

/* Leaves 4 and 8000001DH have the same form: true, if they tell a cache. */
bool cp_cpuid_caches(
	const struct cp_cpuid *cpuid, uint32_t leaf, struct cp_cpuid_told *told);
void cp_cpuid_decode_amd(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told);
void cp_cpuid_decode_intel(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told);

/* The level is such a one; huge pages of second levels that hold small ones only have
 * none. */
void cp_told_entries(struct cp_told_level *level, uint32_t entries, uint32_t ways);
void cp_told_huge(struct cp_cpuid_told *told, enum cp_level small);

#endif
