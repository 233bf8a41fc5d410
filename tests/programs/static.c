/* SPDX-License-Identifier: MIT
 * A program into which nothing can be preloaded.
 */
#include <stdio.h>

int main(void)
{
	puts("static");
	return 17;
}
