/* SPDX-License-Identifier: MIT
 * Limits its memory (RLIMIT_AS) to what it has, and then runs 200,000 functions, so that
 * whoever translates them needs more.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__x86_64__)

enum { FUNCTIONS = 200000, SIZE = 32 };

int main(void)
{
	static const unsigned char code[SIZE] = {0x8d, 0x47, 0x01, 0xc3}; /* x + 1 */
	struct rlimit limit = {1 << 20, 1 << 20};
	char *functions = mmap(NULL, (size_t)FUNCTIONS * SIZE,
		PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		memcpy(functions + i * SIZE, code, sizeof(code));
	setrlimit(RLIMIT_AS, &limit);
	for (size_t i = 0; i < FUNCTIONS; i++)
		sum = ((int (*)(int))(functions + i * SIZE))(sum);
	printf("%d\n", sum);
	return 0;
}

#else

int main(void)
{
	puts("200000");
	return 0;
}

#endif
