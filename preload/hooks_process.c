/* SPDX-License-Identifier: MIT
 *
 * Overrides: __libc_start_main, _exit, _Exit, quick_exit, daemon,
 *   execve, execv, execvp, execvpe, execl, execlp, execle, fexecve, execveat,
 *   posix_spawn, posix_spawnp.
 *
 * __libc_start_main: the one place between the constructors and main where
 *   `environ` exists, so that children inherit the run (setenv is bash's own).
 * _exit & co.: the process ends without its atexit handlers.
 * daemon: libc's own ends the parent by an _exit that nobody sees.
 * exec*: this image ends.  Under the simulated PMU /proc/self/exe is the
 *   simulator, which a program that runs itself again does not mean.
 */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/export.h"
#include "base/fd.h"
#include "base/env.h"
#include "preload/follow.h"
#include "preload/program/layout.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/warn.h"
#include "preload/process.h"
#include "preload/walk.h"

/* The entries that programs of this run get, and the status that quick_exit() was given.
 */
static struct {
	char *const *run_entries;
	int quick_status;
} process;

/* Registered first, so that it runs after the program's own. */
static void at_quick_exit_handler(void)
{
	cp_process_end(CP_HOW_EXIT, process.quick_status & 0xff);
}

static void before_fork(void)
{
	cp_fd_before_fork();
	cp_walks_before_fork();
}

static void in_child(void)
{
	cp_walks_in_child();
	cp_process_forked();
}

void cp_hooks_start(char *const entries[])
{
	process.run_entries = entries;
	pthread_atfork(before_fork, cp_walks_in_parent, in_child);
	(void)at_quick_exit(at_quick_exit_handler);
}

/* ---- before main ---- */

/*
 * `environ` is replaced by a longer array.  In a program that has its own copy
 * of the variable it is still NULL here, unless a constructor has changed the
 * environment: then what the program was given is the environment.
 */
static void extend_environment(char **given)
{
	char **present = environ ? environ : given, **extended;

	if (cp_env_has(present, process.run_entries))
		return; /* from the parent, or the image before */
	extended = cp_layout_extend(present, process.run_entries);
	if (extended)
		environ = extended;
	else
		cp_keep_warning("no memory for a longer environment: "
				"each program that this one starts is a run of its own, "
				"with a report of its own");
}

EXPORT int __libc_start_main(cp_main_function *main_, int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	bool ours = cp_enter(); /* what it calls is no call of the program's */

	if (process.run_entries && cp_counting())
		extend_environment(argv + argc + 1);
	if (ours)
		cp_leave();
	return CP_REAL(__libc_start_main)(
		main_, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- ends without handlers ---- */

EXPORT void _exit(int status)
{
	cp_process_end(CP_HOW_EXIT, status & 0xff);
	CP_REAL(_exit)(status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	_exit(status);
}

EXPORT void quick_exit(int status)
{
	process.quick_status = status;
	CP_REAL(quick_exit)(status);
	__builtin_unreachable();
}

static int use_null_device(void)
{
	int fd = open(_PATH_DEVNULL, O_RDWR);
	struct stat null;

	if (fd < 0 || cp_fd_stat(fd, &null) < 0)
		return -1;
	if (!S_ISCHR(null.st_mode) || null.st_rdev != makedev(1, 3)) {
		close(fd);
		errno = ENODEV;
		return -1;
	}
	for (int standard = 0; standard <= 2; standard++)
		dup2(fd, standard);
	if (fd > 2)
		close(fd);
	return 0;
}

/* As libc's, which does not mind a directory that it cannot go to either. */
EXPORT int daemon(int nochdir, int noclose)
{
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid > 0)
		_exit(0);
	if (setsid() < 0)
		return -1;
	if (!nochdir)
		(void)!chdir("/");
	return noclose ? 0 : use_null_device();
}

/* ---- exec ---- */

static void *before_exec(const char *path, char *const envp[])
{
	void *note = cp_follow_note(getpid(), path, envp);

	cp_process_exec();
	return note;
}

static void exec_failed(void *note)
{
	int saved = errno;

	cp_exec_failed();
	cp_follow_undo(note);
	errno = saved;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	char *room[cp_follow_room(envp)];
	void *note = before_exec(path, envp);
	int result;

	result = CP_REAL(execve)(path, argv, cp_follow_environment(room, envp));
	exec_failed(note);
	return result;
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char *room[cp_follow_room(envp)];
	void *note = before_exec(file, envp);
	int result;

	result = CP_REAL(execvpe)(file, argv, cp_follow_environment(room, envp));
	exec_failed(note);
	return result;
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	char *room[cp_follow_room(envp)];
	void *note = before_exec(NULL, envp);
	int result;

	result = CP_REAL(fexecve)(fd, argv, cp_follow_environment(room, envp));
	exec_failed(note);
	return result;
}

EXPORT int execveat(
	int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	char *room[cp_follow_room(envp)];
	void *note = before_exec(path, envp);
	int result;

	result = CP_REAL(execveat)(
		fd, path, argv, cp_follow_environment(room, envp), flags);
	exec_failed(note);
	return result;
}

/* The arguments of execl and its like, NULL included; the array is the
 * caller's, on its stack as in libc, since a vfork child may be calling. */
static size_t count_arguments(va_list args)
{
	size_t count = 2; /* the named one and NULL */

	while (va_arg(args, const char *))
		count++;
	return count;
}

static void collect_arguments(char **argv, size_t count, const char *first, va_list args)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i < count; i++)
		argv[i] = va_arg(args, char *);
}

#define COLLECT(argv, first)                                                             \
	va_list cp_args;                                                                 \
	va_start(cp_args, first);                                                        \
	size_t cp_count = count_arguments(cp_args);                                      \
	va_end(cp_args);                                                                 \
	char *argv[cp_count];                                                            \
	va_start(cp_args, first);                                                        \
	collect_arguments(argv, cp_count, first, cp_args)

EXPORT int execl(const char *path, const char *first, ...)
{
	COLLECT(argv, first);
	va_end(cp_args);
	return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	COLLECT(argv, first);
	va_end(cp_args);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *envp;

	COLLECT(argv, first);
	envp = va_arg(cp_args, char *const *);
	va_end(cp_args);
	return execve(path, argv, envp);
}

/* ---- spawn: the child's image is no end of ours ---- */

static void note_spawned(pid_t *pid, pid_t child, const char *path, char *const envp[])
{
	int saved = errno;

	if (pid)
		*pid = child;
	cp_follow_note(child, path, envp);
	errno = saved;
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
	const posix_spawn_file_actions_t *restrict actions,
	const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
	char *const envp[restrict])
{
	char *room[cp_follow_room(envp)];
	pid_t child;
	int result = CP_REAL(posix_spawn)(&child, path, actions, attributes, argv,
		cp_follow_environment(room, envp));

	if (result == 0)
		note_spawned(pid, child, path, envp);
	return result;
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
	const posix_spawn_file_actions_t *restrict actions,
	const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
	char *const envp[restrict])
{
	char *room[cp_follow_room(envp)];
	pid_t child;
	int result = CP_REAL(posix_spawnp)(&child, file, actions, attributes, argv,
		cp_follow_environment(room, envp));

	if (result == 0)
		note_spawned(pid, child, file, envp);
	return result;
}
