/* SPDX-License-Identifier: MIT */
#include "base/fd_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "base/lock.h"
#include "base/syscall.h"

/* The kernel copies the table up to the highest open number in each fork: no
 * descriptor of ours goes further than it must. */
#define HIGHEST_START (1 << 14)

/* Innermost; the limits are raised while it is held. */
static struct cp_lock limit_lock;
CP_LOCK_LISTED(limit_lock);

/* Limits of the program: while they are raised, and when this thread forked. */
static struct rlimit program_limit; /* atomic, each half */
static unsigned changes;            /* atomic; odd while the limits are raised */
static int unprivileged; /* atomic; the kernel has refused to raise the hard one */
static __thread struct rlimit limit_at_fork __attribute__((tls_model("initial-exec")));

static int stopped; /* atomic */

static int raw_limit(const struct rlimit *new, struct rlimit *old)
{
	if (__atomic_load_n(&stopped, __ATOMIC_RELAXED))
		return -EPERM;
	return (int)cp_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, new, old);
}

void cp_fd_limits_stop(void)
{
	__atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

static void count_change(unsigned by)
{
	__atomic_add_fetch(&changes, by, __ATOMIC_SEQ_CST);
}

static void remember_limit(const struct rlimit *limit)
{
	__atomic_store_n(&program_limit.rlim_cur, limit->rlim_cur, __ATOMIC_RELAXED);
	__atomic_store_n(&program_limit.rlim_max, limit->rlim_max, __ATOMIC_RELAXED);
}

static struct rlimit remembered_limit(void)
{
	return (struct rlimit){
		__atomic_load_n(&program_limit.rlim_cur, __ATOMIC_RELAXED),
		__atomic_load_n(&program_limit.rlim_max, __ATOMIC_RELAXED),
	};
}

/* The program's limit, also while we have raised it. */
struct rlimit cp_fd_limits(void)
{
	struct rlimit limit;
	unsigned seen;

	do {
		seen = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
		if (seen & 1)
			limit = remembered_limit();
		else if (raw_limit(NULL, &limit) < 0)
			limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	} while (seen != __atomic_load_n(&changes, __ATOMIC_SEQ_CST));
	return limit;
}

/* Is there, or can there be, a number beyond the soft limit? */
static bool room_above(const struct rlimit *limit)
{
	return limit->rlim_cur < CP_FD_MAX / 2 &&
	       (limit->rlim_cur < limit->rlim_max ||
		       !__atomic_load_n(&unprivileged, __ATOMIC_RELAXED));
}

/* The soft limit up to the hard one, and that, too, where it is no higher: which
 * takes CAP_SYS_RESOURCE.  Asked for in vain once: security modules log that. */
static int raise_limit(const struct rlimit *limit)
{
	struct rlimit wide = {limit->rlim_max, limit->rlim_max};
	int result;

	if (limit->rlim_cur >= limit->rlim_max)
		wide.rlim_cur = wide.rlim_max = CP_FD_MAX;
	result = raw_limit(&wide, NULL);
	if (result < 0)
		__atomic_store_n(&unprivileged, 1, __ATOMIC_RELAXED);
	return result;
}

static int duplicate_from(int fd, rlim_t from)
{
	long high = cp_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);

	if (high >= CP_FD_MAX) {
		cp_syscall(SYS_close, high);
		return -EMFILE;
	}
	return (int)high;
}

/* The limits are ours only during the call. */
static int duplicate_above(int fd, const struct rlimit *limit)
{
	int high;

	if (__atomic_load_n(&changes, __ATOMIC_RELAXED) & 1)
		return duplicate_from(fd, limit->rlim_cur);
	remember_limit(limit);
	count_change(1);
	high = raise_limit(limit);
	if (high == 0) {
		high = duplicate_from(fd, limit->rlim_cur);
		raw_limit(limit, NULL);
	}
	count_change(1);
	return high;
}

static int duplicate_below(int fd, const struct rlimit *limit)
{
	if (limit->rlim_cur <= CP_FD_FEW)
		return -EMFILE;
	return duplicate_from(fd, limit->rlim_cur / 2 < HIGHEST_START
					  ? limit->rlim_cur / 2
					  : HIGHEST_START);
}

int cp_fd_duplicate_high(int fd)
{
	struct rlimit limit;
	int high = -EMFILE;

	cp_lock(&limit_lock);
	limit = cp_fd_limits();
	if (room_above(&limit))
		high = duplicate_above(fd, &limit);
	if (high < 0)
		high = duplicate_below(fd, &limit);
	cp_unlock(&limit_lock);
	return high;
}

bool cp_fd_scarce(void)
{
	struct rlimit limit = cp_fd_limits();

	return limit.rlim_cur < HIGHEST_START && !room_above(&limit);
}

bool cp_fd_few(void)
{
	struct rlimit limit = cp_fd_limits();

	return limit.rlim_cur <= CP_FD_FEW && !room_above(&limit);
}

void cp_fd_widen(rlim_t few)
{
	struct rlimit limit;

	if (raw_limit(NULL, &limit) < 0 || limit.rlim_cur > few)
		return;
	remember_limit(&limit);
	count_change(1);
	if (raise_limit(&limit) < 0)
		count_change(1);
}

void cp_fd_narrow(void)
{
	struct rlimit limit = remembered_limit();

	if (!(__atomic_load_n(&changes, __ATOMIC_RELAXED) & 1))
		return;
	raw_limit(&limit, NULL);
	count_change(1);
}

void cp_fd_before_fork(void)
{
	limit_at_fork = cp_fd_limits();
}

/* The kernel copies limits before it copies memory: `changes` may be even in a
 * child whose limit is the raised one. */
void cp_fd_after_fork(void)
{
	struct rlimit limit;

	if (raw_limit(NULL, &limit) == 0 && limit.rlim_cur == limit.rlim_max &&
		limit_at_fork.rlim_max && limit_at_fork.rlim_cur < limit.rlim_cur)
		raw_limit(&limit_at_fork, NULL);
	__atomic_store_n(&changes, 0, __ATOMIC_RELAXED);
}
