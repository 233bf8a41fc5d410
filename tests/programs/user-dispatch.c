/* SPDX-License-Identifier: MIT
 *
 *	user-dispatch [libc]
 * Asks that its system calls be handed to it, as Wine does; goes on where it cannot.
 * libc: all but libc's, of which it makes one by syscall(2).
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char block; /* SYSCALL_DISPATCH_FILTER_ALLOW, _BLOCK */
static int handed;
static uintptr_t code, length;

/* Code of the library that has getpid(). */
static int find(struct dl_phdr_info *info, size_t size, void *unused)
{
	uintptr_t wanted = (uintptr_t)getpid;

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *at = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + at->p_vaddr;

		if (at->p_type == PT_LOAD && wanted - start < at->p_memsz) {
			code = start;
			length = at->p_memsz;
		}
	}
	return 0;
}

static void on_call(int number)
{
	(void)number;
	block = 0;
	handed++;
}

static int dispatch(int on)
{
	return prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, on, code, length, &block);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_call};
	int libc = argc > 1 && strcmp(argv[1], "libc") == 0, result;
	long pid = getpid(), got;

	if (libc) {
		sigaction(SIGSYS, &action, NULL);
		dl_iterate_phdr(find, NULL);
	}
	result = dispatch(1);
	printf("%d %s\n", result, result ? strerror(errno) : "");
	if (result)
		return 0;
	block = (char)libc;
	got = libc ? syscall(SYS_getpid) : pid;
	block = 0;
	code = length = 0;
	prctl(59, 0, 0, 0, 0);
	printf("%s, %d handed over\n", got == pid ? "as alone" : "another", handed);
	return 0;
}
