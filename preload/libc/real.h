/* SPDX-License-Identifier: MIT
 *
 * The real functions behind the ones that we override, and behind a few that the
 * program's sanitizer has its own of, not to be called yet when we need them.
 * In one table, filled before any of them is needed: a vfork child or a signal
 * handler must not be the first to call dlsym.
 */
#ifndef CACHEPEEK_PRELOAD_LIBC_REAL_H
#define CACHEPEEK_PRELOAD_LIBC_REAL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

typedef int cp_main_function(int argc, char **argv, char **envp);

int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
sighandler_t bsd_signal(int number, sighandler_t handler);

void __longjmp_chk(jmp_buf env, int value) __attribute__((noreturn));

int __libc_start_main(cp_main_function *main_, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

/* _exit comes first, so that there is a way to exit when another is missing. */
#define CP_REAL_FUNCTIONS(X)                                                             \
	X(_exit)                                                                         \
	X(sigaction)                                                                     \
	X(signal)                                                                        \
	X(__sysv_signal)                                                                 \
	X(sigaltstack)                                                                   \
	X(pthread_sigmask)                                                               \
	X(sigprocmask)                                                                   \
	X(raise)                                                                         \
	X(kill)                                                                          \
	X(pthread_kill)                                                                  \
	X(tgkill)                                                                        \
	X(syscall)                                                                       \
	X(quick_exit)                                                                    \
	X(on_exit)                                                                       \
	X(pthread_key_create)                                                            \
	X(pthread_setspecific)                                                           \
	X(pthread_setcancelstate)                                                        \
	X(__libc_start_main)                                                             \
	X(execve)                                                                        \
	X(execvpe)                                                                       \
	X(fexecve)                                                                       \
	X(execveat)                                                                      \
	X(posix_spawn)                                                                   \
	X(posix_spawnp)                                                                  \
	X(pthread_create)                                                                \
	X(thrd_create)                                                                   \
	X(dlopen)                                                                        \
	X(close)                                                                         \
	X(dup2)                                                                          \
	X(dup3)                                                                          \
	X(fcntl)                                                                         \
	X(prctl)                                                                         \
	X(ptrace)                                                                        \
	X(memmem)                                                                        \
	X(getenv)                                                                        \
	X(fstat)                                                                         \
	X(_setjmp)                                                                       \
	X(longjmp)                                                                       \
	X(_longjmp)                                                                      \
	X(siglongjmp)                                                                    \
	X(__longjmp_chk)

struct cp_real {
#define X(name) __typeof__(&name) name;
	CP_REAL_FUNCTIONS(X)
#undef X
	__typeof__(&signal) sigset; /* whose declaration says "deprecated" */
};

extern struct cp_real cp_reals;

/* Fills the whole table: a vfork child or a signal handler must not be the
 * first to call dlsym. */
void cp_real_fill(void);

/* One entry, for a library that is disabled and needs hardly any. */
void *cp_real_find(const char *name);

#define CP_REAL(function)                                                                \
	(cp_reals.function ? cp_reals.function                                           \
			   : (__typeof__(&function))(uintptr_t)cp_real_find(#function))

#endif
