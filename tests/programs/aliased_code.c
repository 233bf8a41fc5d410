/* SPDX-License-Identifier: MIT
 *	aliased_code memfd|deleted
 * Maps memory twice, to write code and to execute it, and writes three functions at the
 * same place: prints what each returns.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int memory_of(const char *how)
{
	char path[] = "/tmp/aliased-XXXXXX";
	int fd;

	if (strcmp(how, "memfd") == 0)
		return memfd_create("code", 0);
	fd = mkstemp(path);
	unlink(path);
	return fd;
}

/* A function that returns n. */
static void put(unsigned char *to, unsigned n)
{
#ifdef __x86_64__
	const unsigned char code[] = {0xb8, (unsigned char)n, 0, 0, 0, 0xc3};
#else
	const uint32_t code[] = {0x52800000u | n << 5, 0xd65f03c0u};
#endif

	memcpy(to, code, sizeof(code));
}

int main(int argc, char **argv)
{
	int fd = memory_of(argc > 1 ? argv[1] : "memfd");
	unsigned char *written, *executed;
	int (*function)(void);

	if (fd < 0 || ftruncate(fd, PAGE) < 0)
		return 1;
	written = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	executed = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (written == MAP_FAILED || executed == MAP_FAILED)
		return 77; /* nothing may be executed there */
	memcpy(&function, &executed, sizeof(function));
	for (unsigned n = 1; n <= 3; n++) {
		put(written, n);
		__builtin___clear_cache((char *)executed, (char *)executed + PAGE);
		for (int i = 0; i < 3; i++)
			printf("%d ", function());
	}
	printf("\n");
	return 0;
}
