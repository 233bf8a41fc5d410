/* SPDX-License-Identifier: MIT
 *
 * Overrides, for this library alone (hidden): the functions of libc below, which
 * do nothing but a system call.
 *
 * Another preloaded library, or the program, may have its own: one that needs
 * what is not set up yet while our constructor runs, or is torn down already
 * when the report is written, or that tells another time (libfaketime), other
 * owners (fakeroot) or other paths.  What we do is nobody else's business.
 * None of these is a cancellation point.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/syscall.h"
#include "preload/libc/vdso.h"

static long set_errno(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

#define CALL(...) set_errno(cp_syscall(__VA_ARGS__))

/* ---- files ---- */

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

/* The program's calls of these are in hooks_open.c: the linker (--wrap) leads our own
 * calls here. */
int __wrap_openat(int directory, const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return (int)CALL(SYS_openat, directory, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return (int)CALL(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t size)
{
	return CALL(SYS_read, fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	return CALL(SYS_pread64, fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size)
{
	return CALL(SYS_write, fd, from, size);
}

off_t lseek(int fd, off_t offset, int whence)
{
	return CALL(SYS_lseek, fd, offset, whence);
}

int ftruncate(int fd, off_t size)
{
	return (int)CALL(SYS_ftruncate, fd, size);
}

int fallocate(int fd, int mode, off_t from, off_t size)
{
	return (int)CALL(SYS_fallocate, fd, mode, from, size);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return (int)CALL(SYS_ioctl, fd, request, argument);
}

int isatty(int fd)
{
	struct {
		tcflag_t flag[4];
		cc_t line, character[32];
	} terminal; /* the kernel's struct termios is smaller than libc's */

	return CALL(SYS_ioctl, fd, TCGETS, &terminal) == 0;
}

/* libc's struct stat is the kernel's where there are 64 bits. */
int stat(const char *restrict path, struct stat *restrict file)
{
	return (int)CALL(SYS_newfstatat, AT_FDCWD, path, file, 0);
}

int lstat(const char *restrict path, struct stat *restrict file)
{
	return (int)CALL(SYS_newfstatat, AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW);
}

int fchmod(int fd, mode_t mode)
{
	return (int)CALL(SYS_fchmod, fd, mode);
}

int access(const char *path, int mode)
{
	return (int)CALL(SYS_faccessat, AT_FDCWD, path, mode);
}

/* Kernels before 5.8 look at the real user only. */
int faccessat(int directory, const char *path, int mode, int flags)
{
#ifdef SYS_faccessat2
	long result = cp_syscall(SYS_faccessat2, directory, path, mode, flags);

	if (result != -ENOSYS)
		return (int)set_errno(result);
#endif
	(void)flags;
	return (int)CALL(SYS_faccessat, directory, path, mode);
}

/* The call whose number libc uses, which seccomp filters know. */
int mkdir(const char *path, mode_t mode)
{
#ifdef SYS_mkdir
	return (int)CALL(SYS_mkdir, path, mode);
#else
	return (int)CALL(SYS_mkdirat, AT_FDCWD, path, mode);
#endif
}

int unlink(const char *path)
{
	return (int)CALL(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int directory, const char *path, int flags)
{
	return (int)CALL(SYS_unlinkat, directory, path, flags);
}

int symlink(const char *target, const char *path)
{
	return (int)CALL(SYS_symlinkat, target, AT_FDCWD, path);
}

int rename(const char *from, const char *to)
{
	return (int)CALL(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t size)
{
	return CALL(SYS_readlinkat, AT_FDCWD, path, to, size);
}

/* One that the caller gives no buffer for is not wanted here. */
char *getcwd(char *to, size_t size)
{
	if (CALL(SYS_getcwd, to, size) < 0)
		return NULL;
	if (*to == '/')
		return to;
	errno = ENOENT; /* "(unreachable)…" */
	return NULL;
}

/* ---- memory ---- */

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)CALL(SYS_mmap, address, size, protection, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
	return (int)CALL(SYS_munmap, address, size);
}

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	va_list args;
	void *address;

	va_start(args, flags);
	address = va_arg(args, void *);
	va_end(args);
	return (void *)CALL(SYS_mremap, old, old_size, size, flags, address);
}

/* ---- the process ---- */

pid_t getpid(void)
{
	return (pid_t)cp_syscall(SYS_getpid);
}

pid_t getppid(void)
{
	return (pid_t)cp_syscall(SYS_getppid);
}

pid_t gettid(void)
{
	return (pid_t)cp_syscall(SYS_gettid);
}

uid_t geteuid(void)
{
	return (uid_t)cp_syscall(SYS_geteuid);
}

int sched_yield(void)
{
	return (int)CALL(SYS_sched_yield);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	return (int)CALL(SYS_prlimit64, 0, resource, NULL, limit);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return (int)CALL(SYS_prlimit64, 0, resource, limit, NULL);
}

int uname(struct utsname *name)
{
	return (int)CALL(SYS_uname, name);
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
	return CALL(SYS_getrandom, to, size, flags);
}

/* ---- time ---- */

/* The kernel's own code in our address space: a system call takes ten times as
 * long, and two of them are in each region. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	long result = cp_vdso_clock_gettime(clock, now);

	return (int)set_errno(
		result == -ENOSYS ? cp_syscall(SYS_clock_gettime, clock, now) : result);
}

time_t time(time_t *to)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}
