/* SPDX-License-Identifier: MIT
 *
 * Calls about memory, with each flag and edge: for each a line with what it answered and
 * how the pages are then.  The lines have to be the same with and without the library.
 * With a word: one call at an address where the simulator is, or a library.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 12, AROUND = 32 };
enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };
enum {
	NOREPLACE = 0x100000,
	VALIDATE = 3,
	SYNC = 0x80000,
	DONTUNMAP = 4,
	STACK = 0x20000
};
enum { ALIGN_DOWN = 1 << 24, ALIGN_UP = 1 << 25 };

static char *area;
static int file, readable, writable, directory, ends[2];

/* ---- pages ---- */

#define P(n) (area + (n)*PAGE)

static void put_page(char *at, char kind)
{
	int shared = kind == 's' || kind == 'F' || kind == 'R';
	int of = kind == 'R' ? readable : file,
	    is_file = kind == 'f' || kind == 'F' || kind == 'R';

	if (kind == '.')
		return;
	mmap(at, PAGE, kind == 'R' ? PROT_READ : RW,
		MAP_FIXED | (shared ? MAP_SHARED : MAP_PRIVATE) |
			(is_file ? 0 : MAP_ANONYMOUS),
		is_file ? of : -1, is_file ? (at - area) : 0);
	if (kind != 'R')
		*at = (char)('A' + (at - area) / PAGE);
	if (kind == 'r' || kind == 'n' || kind == 'x')
		mprotect(at, PAGE,
			kind == 'r'   ? PROT_READ
			: kind == 'x' ? PROT_READ | PROT_EXEC
				      : PROT_NONE);
}

/* w: anonymous, r: to be read, n: neither, x: to be executed, s: shared, f: of a file,
 * F: of a file and shared, R: of a file that is to be read and shared, .: none. */
static void lay(const char *kinds)
{
	munlockall();
	munmap(area - AROUND * PAGE, (PAGES + 2 * AROUND) * PAGE);
	for (int i = 0; i < PAGES; i++)
		pwrite(file, "z", 1, i * PAGE);
	for (int i = 0; kinds[i]; i++)
		put_page(P(i), kinds[i]);
}

static char state_of(char *at)
{
	unsigned char resident;
	char kept = 0;

	if (mincore(at, PAGE, &resident) < 0)
		return '.';
	if (write(ends[1], at, 1) != 1)
		return 'n';
	read(ends[0], &kept, 1);
	write(ends[1], &kept, 1);
	if (read(ends[0], at, 1) == 1)
		return kept ? kept : '0';
	read(ends[0], &kept, 1);
	return kept ? (char)(kept | 0x20) : 'o';
}

/* Tells what is in the pages: capitals can be written to. */
static void tell_pages(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		putchar(state_of(at + i * PAGE));
}

/* ---- calls ---- */

static size_t asked; /* bytes at an address that the call chooses */

static void tell_result(long result)
{
	char *at = (char *)result;

	/* Around the pages is the kernel's own choice, where no place above has room. */
	if (at >= area && at < P(PAGES)) {
		printf("P(%td)%+td ", (at - area) / PAGE, (at - area) % PAGE);
	} else if (result < 1L << 20) {
		printf("%ld ", result);
	} else {
		printf("elsewhere ");
		tell_pages(at, (asked + PAGE - 1) / PAGE);
		putchar(' ');
		munmap(at, asked);
	}
}

static void tell(const char *kinds, const char *call, long result, int error)
{
	printf("%-12s %s = ", kinds, call);
	if (result == -1)
		printf("%s ", strerrorname_np(error));
	else
		tell_result(result);
	tell_pages(area, PAGES);
	putchar('\n');
	fflush(stdout);
}

#define TRY(kinds, call)                                                                 \
	do {                                                                             \
		long result_;                                                            \
		lay(kinds);                                                              \
		errno = 0;                                                               \
		result_ = (long)(call);                                                  \
		tell(kinds, #call, result_, errno);                                      \
	} while (0)

#define MMAP(at, size, protection, flags, fd, offset)                                    \
	syscall(SYS_mmap, at, asked = (size_t)(size), protection, flags, fd,             \
		(long)(offset))
#define MREMAP(at, size, wanted, flags, to)                                              \
	syscall(SYS_mremap, at, (size_t)(size), asked = (size_t)(wanted), flags, to)

static void try_mmap(void)
{
	TRY("w", MMAP(0, PAGE, RW, ANON, -1, 0));
	TRY("w", MMAP(0, 0, RW, ANON, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, 0, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_ANONYMOUS, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, 1000, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON, 1000, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON, -1, 1));
	TRY("w", MMAP(0, PAGE, RW, ANON, -1, PAGE));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, file, 1));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, file, -PAGE));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, file, 100 * PAGE));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, file, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_SHARED, file, PAGE));
	TRY("w", MMAP(0, PAGE, RW, MAP_PRIVATE, readable, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_SHARED, readable, 0));
	TRY("w", MMAP(0, PAGE, PROT_READ, MAP_SHARED, readable, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_SHARED, writable, 0));
	TRY("w", MMAP(0, PAGE, PROT_READ, MAP_PRIVATE, writable, 0));
	TRY("w", MMAP(0, PAGE, PROT_READ, MAP_PRIVATE, directory, 0));
	TRY("w", MMAP(0, PAGE, PROT_READ, MAP_PRIVATE, ends[0], 0));
	TRY("w", MMAP(0, PAGE, RW, VALIDATE | MAP_ANONYMOUS, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, VALIDATE, file, 0));
	TRY("w", MMAP(0, PAGE, RW, VALIDATE | SYNC, file, 0));
	TRY("w", MMAP(0, PAGE, RW, VALIDATE | 1 << 27, file, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_SHARED | 1 << 27, file, 0));
	TRY("w", MMAP(0, PAGE, 0x40, ANON, -1, 0));
	TRY("w", MMAP(0, PAGE, PROT_NONE, ANON, -1, 0));
	TRY("w", MMAP(0, PAGE, PROT_WRITE, ANON, -1, 0));
	TRY("w", MMAP(0, 1L << 47, RW, ANON, -1, 0));
	TRY("w", MMAP(0, -1, RW, ANON, -1, 0));
	TRY("w", MMAP(0, -PAGE, RW, ANON, -1, 0));
	TRY("w", MMAP(0, 1, RW, ANON, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON | MAP_LOCKED, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON | MAP_POPULATE | MAP_NONBLOCK, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON | MAP_NORESERVE | STACK, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, ANON | MAP_DENYWRITE | MAP_EXECUTABLE, -1, 0));
	TRY("w", MMAP(0, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0));
}

static void try_places(void)
{
	TRY("w.w", MMAP(P(1), PAGE, RW, ANON, -1, 0));
	TRY("w.w", MMAP(P(1) + 1, PAGE, RW, ANON, -1, 0));
	TRY("w.w", MMAP(P(1) - 1, PAGE, RW, ANON, -1, 0));
	TRY("w.w", MMAP(P(0), PAGE, RW, ANON, -1, 0));
	TRY("w.w", MMAP(P(1), 2 * PAGE, RW, ANON, -1, 0));
	TRY("wrn", MMAP(P(1), PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wrn", MMAP(P(0), 3 * PAGE, PROT_READ, ANON | MAP_FIXED, -1, 0));
	TRY("w.n", MMAP(P(0), 3 * PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("w.n", MMAP(P(1) + 1, PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), 1, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), 0, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), PAGE, RW, MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), PAGE, RW, MAP_PRIVATE | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), PAGE, RW, MAP_SHARED | MAP_FIXED, readable, 0));
	TRY("wwn", MMAP(P(1), PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, readable, PAGE));
	TRY("wwn", MMAP(P(1), PAGE, RW, MAP_PRIVATE | MAP_FIXED, file, 1));
	TRY("wwn", MMAP(-PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(1L << 47, PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(1L << 56, PAGE, RW, ANON, -1, 0));
	TRY("wwn", MMAP(P(1), -PAGE, RW, ANON | MAP_FIXED, -1, 0));
	TRY("wwn", MMAP(P(1), 1L << 47, RW, ANON | MAP_FIXED, -1, 0));
}

static void try_no_replace(void)
{
	TRY("w.w", MMAP(P(0), PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(1), PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(1), 2 * PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(0), 2 * PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(1) + 1, PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(1), 1, RW, ANON | NOREPLACE, -1, 0));
	TRY("w.w", MMAP(P(1), 0, RW, ANON | NOREPLACE, -1, 0));
	TRY("n.n", MMAP(P(0), PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP(P(0), PAGE, RW, ANON | NOREPLACE | MAP_FIXED, -1, 0));
	TRY("f.F", MMAP(P(1), PAGE, RW, MAP_SHARED | NOREPLACE, file, 5 * PAGE));
	TRY("f.F", MMAP(P(1), PAGE, RW, MAP_SHARED | NOREPLACE, readable, 5 * PAGE));
	TRY("f.F", MMAP(P(0), PAGE, RW, MAP_SHARED | NOREPLACE, readable, 5 * PAGE));
	TRY("f.F", MMAP(P(0), PAGE, RW, MAP_PRIVATE | NOREPLACE, 1000, 0));
	TRY("f.F", MMAP(P(1), PAGE, RW, MAP_PRIVATE | NOREPLACE, 1000, 0));
	TRY("f.F", MMAP(P(1), PAGE, RW, NOREPLACE, -1, 0));
	TRY("f.F", MMAP(1L << 47, PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP(-PAGE, PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP(P(1), -PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP(&file, PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP((long)&file & -PAGE, PAGE, RW, ANON | NOREPLACE, -1, 0));
	TRY("f.F", MMAP((long)area & -PAGE, PAGE, RW, ANON | NOREPLACE, -1, 0));
}

/* Addresses all over, where nothing is alone. */
static void try_addresses(void)
{
	static const long addresses[] = {0x1000, 0x10000, 0x80000, 0x1000000, 0x3fff000,
		0x8000000, 0x10000000, 0x38000000, 0x40000000, 0x57fff000, 0x60000000,
		0x70000000, 0x7ffff000, 0x80000000, 0x100000000, 0x800000000,
		0x10000000000, 0x100000000000, 0x200000000000, 0x400000000000,
		0x500000000000};
	static const int flags[] = {0, MAP_FIXED, NOREPLACE, NOREPLACE | MAP_FIXED};

	for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		for (unsigned k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
			long at = addresses[i],
			     got = MMAP(at, PAGE, RW, ANON | flags[k], -1, 0);

			printf("%#lx %#x: %s\n", at, (unsigned)flags[k],
				got == -1   ? strerrorname_np(errno)
				: got == at ? "there"
					    : "elsewhere");
			if (got != -1)
				munmap((void *)got, PAGE);
		}
}

static void try_munmap(void)
{
	TRY("wrn", munmap(P(0), PAGE));
	TRY("wrn", munmap(P(1), 2 * PAGE));
	TRY("wrn", munmap(P(0), 1));
	TRY("wrn", munmap(P(0), PAGE + 1));
	TRY("wrn", munmap(P(0), 0));
	TRY("wrn", munmap(P(0) + 1, PAGE));
	TRY("w.n", munmap(P(0), 3 * PAGE));
	TRY("w.n", munmap(P(1), PAGE));
	TRY("w.n", munmap(P(3), 2 * PAGE));
	TRY("sfF", munmap(P(1), PAGE));
	TRY("wrn", munmap(P(0), -PAGE));
	TRY("wrn", munmap(P(0), 1L << 47));
	TRY("wrn", munmap((void *)-PAGE, PAGE));
	TRY("wrn", munmap((void *)(1L << 47), PAGE));
	TRY("wrn", munmap(0, 0));
	TRY("wrn", munmap(0, PAGE));
}

static void try_mprotect(void)
{
	TRY("wrn", mprotect(P(0), 3 * PAGE, RW));
	TRY("wrn", mprotect(P(0), 3 * PAGE, PROT_READ));
	TRY("wrn", mprotect(P(0), 3 * PAGE, PROT_NONE));
	TRY("wrn", mprotect(P(1), PAGE, PROT_READ | PROT_EXEC));
	TRY("wrn", mprotect(P(2), PAGE, PROT_WRITE));
	TRY("wrn", mprotect(P(0), 1, PROT_READ));
	TRY("wrn", mprotect(P(0), PAGE + 1, PROT_NONE));
	TRY("wrn", mprotect(P(0), 0, PROT_NONE));
	TRY("wrn", mprotect(P(0) + 1, PAGE, PROT_NONE));
	TRY("w.w", mprotect(P(0), 3 * PAGE, PROT_READ));
	TRY("w.w", mprotect(P(1), PAGE, PROT_READ));
	TRY("w.w", mprotect(P(1), 2 * PAGE, PROT_READ));
	TRY("wrn", mprotect(P(0), -PAGE, PROT_READ));
	TRY("wrn", mprotect((void *)-PAGE, PAGE, PROT_READ));
	TRY("wrn", mprotect(P(0), PAGE, 0x40));
	TRY("wrn", mprotect(P(0), PAGE, PROT_READ | ALIGN_DOWN));
	TRY("wrn", mprotect(P(0), PAGE, PROT_READ | ALIGN_UP));
	TRY("wrn", mprotect(P(0), PAGE, PROT_READ | ALIGN_UP | ALIGN_DOWN));
	TRY("wRw", mprotect(P(0), 3 * PAGE, RW));
	TRY("wRw", mprotect(P(0), 2 * PAGE, PROT_NONE));
	TRY("sfF", mprotect(P(0), 3 * PAGE, PROT_READ));
	TRY("wrn", syscall(SYS_pkey_mprotect, P(0), PAGE, PROT_READ, -1));
	TRY("wrn", syscall(SYS_pkey_mprotect, P(0), PAGE, PROT_READ, 15));
	TRY("w.w", syscall(SYS_pkey_mprotect, P(0), 3 * PAGE, PROT_READ, -1));
}

static void try_mremap_size(void)
{
	TRY("wwww", MREMAP(P(0), 4 * PAGE, 2 * PAGE, 0, 0));
	TRY("wwrr", MREMAP(P(0), 4 * PAGE, PAGE, 0, 0));
	TRY("wwrn", MREMAP(P(0), 4 * PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("wwfF", MREMAP(P(0), 4 * PAGE, PAGE, 0, 0));
	TRY("ww.r", MREMAP(P(0), 4 * PAGE, PAGE, 0, 0));
	TRY(".www", MREMAP(P(0), 4 * PAGE, PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), 4 * PAGE, 4 * PAGE, 0, 0));
	TRY("wwrr", MREMAP(P(0), 4 * PAGE, 4 * PAGE, 0, 0));
	TRY("ww.r", MREMAP(P(0), 4 * PAGE, 4 * PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), 4 * PAGE, 1, 0, 0));
	TRY("wwww", MREMAP(P(0), 3 * PAGE + 1, 2 * PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), 4 * PAGE, 0, 0, 0));
	TRY("wwww", MREMAP(P(0) + 1, 4 * PAGE, PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), 0, PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), 0, PAGE, MREMAP_MAYMOVE, 0));
	TRY("ssss", MREMAP(P(0), 0, PAGE, MREMAP_MAYMOVE, 0));
	TRY("FFFF", MREMAP(P(0), 0, PAGE, MREMAP_MAYMOVE, 0));
	TRY("ffff", MREMAP(P(0), 0, PAGE, MREMAP_MAYMOVE, 0));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 4 * PAGE, 0, 0));
	TRY("ww..", MREMAP(P(0), PAGE, 2 * PAGE, 0, 0));
	TRY("ww.w", MREMAP(P(0), 2 * PAGE, 4 * PAGE, 0, 0));
	TRY("ww.w", MREMAP(P(0), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("wr..", MREMAP(P(0), 2 * PAGE, 4 * PAGE, 0, 0));
	TRY("wr..", MREMAP(P(0), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("w...", MREMAP(P(0), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("....", MREMAP(P(0), PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("rr..", MREMAP(P(0), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("nn.w", MREMAP(P(0), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("ff.w", MREMAP(P(0), PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("f..w", MREMAP(P(0), PAGE, 2 * PAGE, 0, 0));
	TRY("s..w", MREMAP(P(0), PAGE, 2 * PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), -PAGE, PAGE, 0, 0));
	TRY("wwww", MREMAP(P(0), PAGE, -PAGE, MREMAP_MAYMOVE, 0));
	TRY("wwww", MREMAP(P(0), PAGE, 1L << 47, MREMAP_MAYMOVE, 0));
	TRY("wwww", MREMAP(-PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0));
	TRY("wwww", MREMAP(P(0), PAGE, 2 * PAGE, 8, 0));
}

enum { TO = MREMAP_MAYMOVE | MREMAP_FIXED };

static void try_mremap_place(void)
{
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, MREMAP_FIXED, P(4)));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(4)));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, PAGE, TO, P(4)));
	TRY("ww..", MREMAP(P(0), PAGE, 3 * PAGE, TO, P(4)));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(1)));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(0)));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(4) + 1));
	TRY("wwrrnn", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(3)));
	TRY("wwrr", MREMAP(P(0), 3 * PAGE, PAGE, TO, P(4)));
	TRY("wwrr", MREMAP(P(0), 3 * PAGE, PAGE, TO, P(2)));
	TRY("ffFF", MREMAP(P(2), 2 * PAGE, 2 * PAGE, TO, P(0)));
	TRY("ssww", MREMAP(P(0), 0, 2 * PAGE, TO, P(2)));
	TRY("ww..", MREMAP(P(0), 0, 2 * PAGE, TO, P(4)));
	TRY("..ww", MREMAP(P(0), 2 * PAGE, 2 * PAGE, TO, P(4)));
	TRY("ww..", MREMAP(P(0), PAGE, PAGE, TO, 1L << 47));
	TRY("ww..", MREMAP(P(0), PAGE, PAGE, TO, -PAGE));
	TRY("ww..", MREMAP(P(0), PAGE, 0, TO, P(4)));
	TRY("wwww", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP, 0));
	TRY("wwww", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP | MREMAP_MAYMOVE, 0));
	TRY("wwww", MREMAP(P(0), 2 * PAGE, 3 * PAGE, DONTUNMAP | MREMAP_MAYMOVE, 0));
	TRY("ww..", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP | TO, P(4)));
	TRY("wwnn", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP | TO, P(2)));
	TRY("ssnn", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP | TO, P(2)));
	TRY("FFnn", MREMAP(P(0), 2 * PAGE, 2 * PAGE, DONTUNMAP | TO, P(2)));
}

static void try_advice(void)
{
	static const int advice[] = {0, 1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
		19, 20, 21, 22, 23, 24, 5, 7, 99, -1};

	for (unsigned i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		int how = advice[i];

		printf("advice %d\n", how);
		TRY("ww", madvise(P(0), 2 * PAGE, how));
		TRY("rr", madvise(P(0), 2 * PAGE, how));
		TRY("nn", madvise(P(0), 2 * PAGE, how));
		TRY("ss", madvise(P(0), 2 * PAGE, how));
		TRY("ff", madvise(P(0), 2 * PAGE, how));
		TRY("FF", madvise(P(0), 2 * PAGE, how));
		TRY("RR", madvise(P(0), 2 * PAGE, how));
		TRY("w.w", madvise(P(0), 3 * PAGE, how));
		TRY("..w", madvise(P(0), 2 * PAGE, how));
		TRY("ww", madvise(P(0), 0, how));
		TRY("ww", madvise(P(0), 1, how));
		TRY("ww", madvise(P(0) + 1, PAGE, how));
		TRY("ww", madvise(P(0), -PAGE, how));
		TRY("ww", madvise((void *)-PAGE, PAGE, how));
	}
}

static void try_resident(void)
{
	static unsigned char pages[16];

	TRY("ww", syscall(SYS_mincore, P(0), 2 * PAGE, pages));
	TRY("w.", syscall(SYS_mincore, P(0), 2 * PAGE, pages));
	TRY("ww", syscall(SYS_mincore, P(0), 0, pages));
	TRY("ww", syscall(SYS_mincore, P(0) + 1, PAGE, pages));
	TRY("ww", syscall(SYS_mincore, P(0), 2 * PAGE, 0));
	TRY("wr", syscall(SYS_mincore, P(0), 2 * PAGE, P(1)));
	TRY("wn", syscall(SYS_mincore, P(0), 2 * PAGE, P(1)));
	TRY("ww", syscall(SYS_mincore, P(0), -PAGE, pages));
	TRY("ww", syscall(SYS_mincore, -PAGE, PAGE, pages));
}

static void try_sync(void)
{
	static const int flags[] = {0, MS_ASYNC, MS_SYNC, MS_INVALIDATE,
		MS_ASYNC | MS_SYNC, MS_SYNC | MS_INVALIDATE, 8, -1};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int how = flags[i];

		printf("msync %d\n", how);
		TRY("ww", msync(P(0), 2 * PAGE, how));
		TRY("FF", msync(P(0), 2 * PAGE, how));
		TRY("w.F", msync(P(0), 3 * PAGE, how));
		TRY("..", msync(P(0), PAGE, how));
		TRY("ww", msync(P(0), 0, how));
		TRY("ww", msync(P(0) + 1, PAGE, how));
		TRY("ww", msync(P(0), -PAGE, how));
	}
	TRY("FF", mlock(P(0), PAGE) + 10 * msync(P(0), PAGE, MS_INVALIDATE));
}

static void try_locks(void)
{
	TRY("wr", mlock(P(0), 2 * PAGE));
	TRY("wn", mlock(P(0), 2 * PAGE));
	TRY("w.w", mlock(P(0), 3 * PAGE));
	TRY("w", mlock(P(0), 0));
	TRY("w", mlock(P(0) + 1, 1));
	TRY("w", mlock(P(0), -PAGE));
	TRY("w", munlock(P(0), PAGE));
	TRY("w.w", munlock(P(0), 3 * PAGE));
	TRY("w", munlock(P(0), -PAGE));
	TRY("w", syscall(SYS_mlock2, P(0), PAGE, 0));
	TRY("w", syscall(SYS_mlock2, P(0), PAGE, 1));
	TRY("w", syscall(SYS_mlock2, P(0), PAGE, 2));
	TRY("w.", syscall(SYS_mlock2, P(0), 2 * PAGE, 1));
	TRY("w", mlockall(0));
	TRY("w", mlockall(8));
	TRY("w", mlockall(4));
	TRY("w", munlockall());
	TRY("w", mlock(P(0), PAGE) + munmap(P(0), PAGE));
	TRY("w", mlock(P(0), PAGE) + madvise(P(0), PAGE, MADV_DONTNEED));
}

static long from_end(long wanted)
{
	return syscall(SYS_brk, wanted);
}

#define BRK(by) (from_end(end + (by)) - end)

static void try_brk(void)
{
	long end = from_end(0);

	TRY("", BRK(0));
	TRY("", BRK(1));
	TRY("", BRK(PAGE));
	TRY("", *(char *)(end + PAGE - 1) = 0);
	TRY("", BRK(100 * PAGE));
	TRY("", BRK(50 * PAGE));
	TRY("", BRK(-end));
	TRY("", BRK(-end + PAGE));
	TRY("", BRK(1L << 46));
	TRY("", BRK(-1 - end));
	TRY("", munmap((char *)((end + 10 * PAGE) & -PAGE), PAGE));
	TRY("", BRK(51 * PAGE));
	TRY("", BRK(0));
}

static void try_segments(void)
{
	int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);

	asked = 2 * PAGE;
	TRY("ww", shmat(id, 0, 0));
	TRY("ww", shmat(id, P(4), 0));
	TRY("ww", shmat(id, P(4) + 1, 0));
	TRY("ww", shmat(id, P(4) + 1, SHM_RND));
	TRY("ww", shmat(id, P(0), 0));
	TRY("ww", shmat(id, P(1), 0));
	TRY("ww", shmat(id, P(1), SHM_REMAP));
	TRY("ww", shmat(id, 0, SHM_REMAP));
	TRY("ww", shmat(id, P(4), SHM_RDONLY));
	TRY("ww", shmat(id, P(4), SHM_EXEC));
	TRY("ww", shmat(-1, P(4), 0));
	TRY("ww", shmdt(P(0)));
	TRY("ww", shmdt(P(4)));
	TRY("ww", (shmat(id, P(4), 0), shmdt(P(4))));
	TRY("ww", (shmat(id, P(4), 0), shmdt(P(4) + 1)));
	TRY("ww", (shmat(id, P(4), 0), shmdt(P(5))));
	TRY("ww", (shmat(id, P(4), 0), munmap(P(4), PAGE), shmdt(P(4))));
	TRY("ww", (shmat(id, P(4), 0), mprotect(P(5), PAGE, PROT_READ), shmdt(P(4))));
	shmctl(id, IPC_RMID, NULL);
}

/* The first page of the dynamic linker's code. */
static uintptr_t linker_code(void)
{
	uintptr_t base = getauxval(AT_BASE);
	const ElfW(Ehdr) *header = (const void *)base;
	const ElfW(Phdr) *part = (const void *)(base + header->e_phoff);

	while (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
		part++;
	return base + part->p_vaddr / PAGE * PAGE;
}

/* Tries what lies elsewhere, or where nothing is, alone. */
static int try_one(const char *name)
{
	if (strcmp(name, "library") == 0)
		MMAP(linker_code(), PAGE, PROT_NONE, ANON | MAP_FIXED, -1, 0);
	else if (strcmp(name, "map") == 0)
		printf("%ld\n", MMAP(0x58000000, PAGE, RW, ANON | MAP_FIXED, -1, 0));
	else if (strcmp(name, "taken") == 0)
		printf("%ld\n", MMAP(0x58000000, PAGE, RW, ANON | NOREPLACE, -1, 0));
	else if (strcmp(name, "unmap") == 0)
		printf("%d\n", munmap((void *)0x58000000, PAGE));
	else if (strcmp(name, "move") == 0)
		printf("%ld\n", MREMAP(area, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
					0x58000000));
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	FILE *made = tmpfile();
	char path[64];

	file = fileno(made);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	readable = open(path, O_RDONLY);
	writable = open(path, O_WRONLY);
	directory = open("/", O_RDONLY);
	if (pipe(ends) < 0 || ftruncate(file, PAGES * PAGE) < 0)
		return 1;
	area = (char *)mmap(0, (PAGES + 2 * AROUND) * PAGE, PROT_NONE, ANON, -1, 0) +
	       AROUND * PAGE;
	if (argc > 1)
		return try_one(argv[1]);
	try_mmap();
	try_places();
	try_no_replace();
	try_addresses();
	try_munmap();
	try_mprotect();
	try_mremap_size();
	try_mremap_place();
	try_advice();
	try_resident();
	try_sync();
	try_locks();
	try_segments();
	try_brk();
	return 0;
}
