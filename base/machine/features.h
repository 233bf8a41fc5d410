/* SPDX-License-Identifier: MIT
 *
 * The features of processors, by the names that Linux has for them (/proc/cpuinfo), and
 * where CPUID tells of each.
 */
#ifndef CACHEPEEK_BASE_MACHINE_FEATURES_H
#define CACHEPEEK_BASE_MACHINE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* reg: enum of cpuid.h */
struct cp_feature {
	const char *name;
	uint32_t leaf;
	uint8_t subleaf, reg, bit;
};

/* Sets of features are bits of a uint64_t, in the order of this table; the last name is
 * NULL. */
extern const struct cp_feature cp_features[];

/* The features of this name, one or all of a level ("x86-64-v3"); 0: there is none. */
uint64_t cp_features_named(const char *name);

/* Their names, with blanks between them. */
void cp_features_list(uint64_t features, char *to, size_t size);

#endif
