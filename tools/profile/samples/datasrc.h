/* SPDX-License-Identifier: MIT
 *
 * Says in the words of the report what a processor tells of a sampled access.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_DATASRC_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_DATASRC_H

#include <stdint.h>

/* The source of the value: some words depend on it. */
enum cp_vendor { CP_VENDOR_INTEL, CP_VENDOR_AMD, CP_VENDOR_ARM };

/* Where data came from. */
enum cp_served {
	CP_SERVED_L1, /* no miss */
	CP_SERVED_L2,
	CP_SERVED_LFB, /* on its way already: another miss was waiting for the line */
	CP_SERVED_L3,
	CP_SERVED_C2C, /* another core's caches, here or in another socket */
	CP_SERVED_LOCAL,
	CP_SERVED_1HOP,
	CP_SERVED_2HOP,
	CP_SERVED_UNKNOWN,
	CP_SERVED_NOTHING, /* no access to data, or none that is in these words */
};

/* Where the translation came from. */
enum cp_translated {
	CP_TRANSLATED_L1, /* no miss */
	CP_TRANSLATED_L2,
	CP_TRANSLATED_WALK,
	CP_TRANSLATED_SOFT,
	CP_TRANSLATED_UNKNOWN,
};

/* data_source: union perf_mem_data_src. */
enum cp_served cp_served_from(uint64_t data_source, enum cp_vendor vendor);
enum cp_translated cp_translated_by(uint64_t data_source);

#endif
