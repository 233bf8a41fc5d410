/* SPDX-License-Identifier: MIT
 *
 * Threads that nobody saw being created.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/files/directory.h"
#include "base/fd.h"
#include "base/text.h"
#include "preload/helper.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"

static bool adopt_entry(void *unused, int dir, const char *name)
{
	uint64_t tid;

	(void)unused, (void)dir;
	if (cp_parse_u64(name, &tid) == 0 && tid <= INT32_MAX &&
		!cp_helpers_have((pid_t)tid) && !cp_thread_is_known((pid_t)tid))
		cp_thread_adopt((pid_t)tid);
	return false;
}

/* One stat tells whether there is anything to look for: a directory's links
 * are its subdirectories and two more. */
static bool somebody_new(void)
{
	struct stat task;

	return stat("/proc/self/task", &task) == 0 &&
	       task.st_nlink > cp_threads_live() + 2 + cp_helpers_running();
}

void cp_threads_adopt(void)
{
	int dir;

	/* A thread that is on its way to cp_thread_begin is not a stray. */
	if (!cp_engine->opens_any_thread || cp_confined() || cp_threads_start_now() ||
		!somebody_new())
		return;
	dir = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	cp_directory_any(dir, adopt_entry, NULL);
	cp_fd_close(dir);
}
