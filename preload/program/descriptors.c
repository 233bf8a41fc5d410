/* SPDX-License-Identifier: MIT */
#include "preload/calibrate.h"
#include "preload/program/descriptors.h"

#include "base/fd.h"
#include "base/format.h"
#include "base/log.h"
#include "base/once.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "preload/self.h"
#include "preload/warn.h"

bool cp_is_own_descriptor(int fd)
{
	return cp_fd_is_ours(fd) && cp_is_this_process();
}

int cp_not_open(void)
{
	errno = EBADF;
	return -1;
}

/* ---- the program needs our numbers ---- */

static void warn_yielded(void)
{
	static struct cp_once said;
	char line[200];

	if (!cp_once(&said))
		return;
	cp_format(line, sizeof(line),
		"the program needs all of its %llu descriptors: "
		"counters were closed to leave it theirs, "
		"and what they would count is unavailable: raise `ulimit -n`",
		(unsigned long long)cp_fd_limits().rlim_cur);
	cp_warn(line);
}

/* Readings under way use the old number. */
static bool yield_number(void)
{
	int record = cp_runtime.record.fd, log = cp_log_fd,
	    fd = cp_fd_yield(&cp_runtime.record.fd);

	if (fd < 0)
		return false;
	cp_calibrate_wait();
	cp_threads_wait_for_readings();
	cp_fd_close(fd);
	if (fd != record && fd != log)
		warn_yielded();
	return true;
}

bool cp_descriptors_yield(void)
{
	bool yielded;
	int state;

	if (cp_confined() || !cp_is_this_process() || !cp_enter_slowly(&state))
		return false;
	yielded = yield_number();
	cp_leave_slowly(state);
	errno = EMFILE;
	return yielded;
}
