/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Paths of the first level that only some hosts can run.  Clang has no way to compile
 * included code for another host than the file's.
 */
#ifndef CACHEPEEK_SIM_L1_NEWER_H
#define CACHEPEEK_SIM_L1_NEWER_H

#if defined(__x86_64__) && !defined(__clang__)
#define L1_HAS_AVX2 1
#else
#define L1_HAS_AVX2 0
#endif

struct core;

void l1_choose_paths_avx2(struct core *core);

#endif
