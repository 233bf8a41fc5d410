/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The caches of hand-made traces: L1D has a line for each of four sets, L2 has room for
 * all.
 */
#ifndef CACHEPEEK_TESTS_SIM_SMALL_H
#define CACHEPEEK_TESTS_SIM_SMALL_H

#define G(s, w, ...)                                                                     \
	{                                                                                \
		.sets = (s), .ways = (w), __VA_ARGS__                                    \
	}
#define SMALL_CACHES                                                                     \
	.l1i = G(4, 1), .l1d = G(4, 1), .l2 = G(16, 8), .llc = G(64, 8),                 \
	.itlb = G(1, 2), .dtlb = G(1, 2), .stlb = G(1, 4), .line = 64, .page = 4096

/* Two cores in order, by the cycles of each level. */
#define SMALL_TIMED                                                                      \
	{                                                                                \
		SMALL_CACHES, .cores = 2, .time = {                                      \
			.l2 = 10,                                                        \
			.llc = 30,                                                       \
			.memory = 100,                                                   \
			.stlb = 5,                                                       \
			.walk = 40                                                       \
		}                                                                        \
	}

/* Cores that execute out of order: an instruction a cycle; the 33rd waits for a load.
 */
#define SMALL_OOO                                                                        \
	{                                                                                \
		.l1 = 4, .window = 32, .mispredict = 15, .width = 100                    \
	}

#endif
