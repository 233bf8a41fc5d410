/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level's paths for x86-64 hosts of 2013 and later.  Valgrind's generated
 * code knows of no wider registers than 128 bits; the compiler clears the upper halves
 * where it leaves these functions.
 */
#include "model/l1_newer.h"

#if L1_HAS_AVX2
#pragma GCC target("avx2,bmi,bmi2,lzcnt")
#include "model/l1_shapes.h"

void l1_choose_paths_avx2(struct core *core)
{
	choose_paths(core);
}
#endif
