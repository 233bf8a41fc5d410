/* SPDX-License-Identifier: MIT
 *
 * The real functions behind the ones that we override, in one table, filled
 * before any of them is needed: a vfork child or a signal handler must not be
 * the first to call dlsym.
 */
#ifndef CACHEPEEK_PRELOAD_REAL_H
#define CACHEPEEK_PRELOAD_REAL_H

#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

typedef int cp_main_function(int argc, char **argv, char **envp);

int __libc_start_main(cp_main_function *main_, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

/* _exit comes first, so that there is a way to exit when another is missing. */
#define CP_REAL_FUNCTIONS(X)                                                               \
	X(_exit)                                                                           \
	X(quick_exit)                                                                      \
	X(__libc_start_main)                                                               \
	X(execve)                                                                          \
	X(execvpe)                                                                         \
	X(fexecve)                                                                         \
	X(execveat)                                                                        \
	X(posix_spawn)                                                                     \
	X(posix_spawnp)                                                                    \
	X(pthread_create)                                                                  \
	X(thrd_create)

struct cp_real {
#define X(name) __typeof__(&name) name;
	CP_REAL_FUNCTIONS(X)
#undef X
};

/* The table; filled at the first call. */
const struct cp_real *cp_real(void);

#endif
