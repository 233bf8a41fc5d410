/* SPDX-License-Identifier: MIT */
#include "tools/profile/samples/datasrc.h"

#include <linux/perf_event.h>
#include <stdbool.h>

/* Newer than some headers. */
enum { LVLNUM_L2_MHB = 5, LVLNUM_MSC, LVLNUM_L0, LVLNUM_UNC, LVLNUM_CXL };

static bool has_level(union perf_mem_data_src d, unsigned bits)
{
	return (d.mem_lvl & bits) != 0;
}

/* It had to be taken from another core's caches. */
static bool from_peer(union perf_mem_data_src d)
{
	return (d.mem_snoop & PERF_MEM_SNOOP_HITM) || d.mem_snoopx;
}

/* Boards and sockets away, not just nodes of a socket. */
static bool is_far(union perf_mem_data_src d)
{
	return d.mem_hops >= PERF_MEM_HOPS_2 || has_level(d, PERF_MEM_LVL_REM_RAM2);
}

static enum cp_served served_by_memory(union perf_mem_data_src d)
{
	if (!d.mem_remote)
		return CP_SERVED_LOCAL;
	return is_far(d) ? CP_SERVED_2HOP : CP_SERVED_1HOP;
}

/* Missed there: where it was found is not said. */
static bool is_missed(union perf_mem_data_src d)
{
	return has_level(d, PERF_MEM_LVL_MISS) && !has_level(d, PERF_MEM_LVL_HIT);
}

/* A level of this core, or of a remote one, which is what peers are. */
static enum cp_served served_by_cache(union perf_mem_data_src d, enum cp_served own)
{
	if (is_missed(d))
		return CP_SERVED_UNKNOWN;
	return d.mem_remote || from_peer(d) ? CP_SERVED_C2C : own;
}

/* The bits of before there were numbers: several may be set. */
static enum cp_served by_bits(union perf_mem_data_src d, enum cp_vendor vendor)
{
	bool peer = from_peer(d);

	/* Before Zen 4 one code stands for this L3 and its neighbours'. */
	if (vendor == CP_VENDOR_AMD && !peer && has_level(d, PERF_MEM_LVL_L3) &&
		has_level(d, PERF_MEM_LVL_REM_CCE1))
		return CP_SERVED_UNKNOWN;
	if (has_level(d, PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
		return CP_SERVED_C2C;
	if (has_level(d, PERF_MEM_LVL_REM_RAM2))
		return CP_SERVED_2HOP;
	if (has_level(d, PERF_MEM_LVL_REM_RAM1))
		return CP_SERVED_1HOP;
	if (has_level(d, PERF_MEM_LVL_LOC_RAM))
		return CP_SERVED_LOCAL;
	if (has_level(d, PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC))
		return CP_SERVED_UNKNOWN;
	if (is_missed(d))
		return CP_SERVED_UNKNOWN;
	if (has_level(d, PERF_MEM_LVL_L3))
		return served_by_cache(d, CP_SERVED_L3);
	if (has_level(d, PERF_MEM_LVL_L2))
		return served_by_cache(d, CP_SERVED_L2);
	if (has_level(d, PERF_MEM_LVL_LFB))
		return CP_SERVED_LFB;
	if (has_level(d, PERF_MEM_LVL_L1))
		return CP_SERVED_L1;
	return CP_SERVED_UNKNOWN;
}

/* L1 says nothing of a miss where the older bits say that it was one. */
static enum cp_served first_level(union perf_mem_data_src d)
{
	if (d.mem_remote)
		return CP_SERVED_C2C;
	return is_missed(d) ? CP_SERVED_UNKNOWN : CP_SERVED_L1;
}

static enum cp_served by_number(union perf_mem_data_src d, enum cp_vendor vendor)
{
	switch (d.mem_lvl_num) {
	case LVLNUM_L0:
	case PERF_MEM_LVLNUM_L1:
		return first_level(d);
	case PERF_MEM_LVLNUM_L2:
		return served_by_cache(d, CP_SERVED_L2);
	case PERF_MEM_LVLNUM_L3:
		if (has_level(d, PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
			return by_bits(d, vendor);
		return served_by_cache(d, CP_SERVED_L3);
	case PERF_MEM_LVLNUM_LFB:
	case LVLNUM_L2_MHB:
		return CP_SERVED_LFB;
	case PERF_MEM_LVLNUM_RAM:
	case PERF_MEM_LVLNUM_PMEM:
		return served_by_memory(d);
	case PERF_MEM_LVLNUM_ANY_CACHE:
		return served_by_cache(d, by_bits(d, vendor));
	case 0:
	case PERF_MEM_LVLNUM_NA:
		return by_bits(d, vendor);
	default: /* L4, memory-side caches, CXL, devices */
		return CP_SERVED_UNKNOWN;
	}
}

enum cp_served cp_served_from(uint64_t data_source, enum cp_vendor vendor)
{
	union perf_mem_data_src d = {.val = data_source};

	if (!(d.mem_op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE | PERF_MEM_OP_PFETCH)))
		return CP_SERVED_NOTHING;
	return by_number(d, vendor);
}

enum cp_translated cp_translated_by(uint64_t data_source)
{
	union perf_mem_data_src d = {.val = data_source};
	unsigned tlb = d.mem_dtlb;
	bool second = (tlb & PERF_MEM_TLB_L2) && !(tlb & PERF_MEM_TLB_L1);

	if (tlb & PERF_MEM_TLB_OS)
		return CP_TRANSLATED_SOFT;
	if (tlb & PERF_MEM_TLB_WK)
		return CP_TRANSLATED_WALK;
	if (tlb & PERF_MEM_TLB_MISS)
		return second ? CP_TRANSLATED_WALK : CP_TRANSLATED_UNKNOWN;
	if (!(tlb & PERF_MEM_TLB_HIT))
		return CP_TRANSLATED_UNKNOWN;
	if (second)
		return CP_TRANSLATED_L2;
	/* "L1 or L2" is all that some say of a hit. */
	return tlb & PERF_MEM_TLB_L2   ? CP_TRANSLATED_UNKNOWN
	       : tlb & PERF_MEM_TLB_L1 ? CP_TRANSLATED_L1
				       : CP_TRANSLATED_UNKNOWN;
}
