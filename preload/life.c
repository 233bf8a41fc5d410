/* SPDX-License-Identifier: MIT */
#include "preload/life.h"

void cp_life_do(size_t step)
{
	for (size_t i = 0; i < cp_nparts; i++) {
		void (*function)(void) =
			*(void (*const *)(void))((const char *)&cp_parts[i] + step);

		if (function)
			function();
	}
}
