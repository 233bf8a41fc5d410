// SPDX-License-Identifier: MIT
// A library that comes and goes: its one function reads a byte of each line.
#include <stddef.h>

int sum_lines(const volatile char *at, size_t size);

int sum_lines(const volatile char *at, size_t size)
{
	int sum = 0;

	for (size_t i = 0; i < size; i += 64)
		sum += at[i]; /* the load of the library */
	return sum;
}
