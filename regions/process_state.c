/* SPDX-License-Identifier: MIT */
#include "regions/process_state.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"

#define TICKS 100             /* of /proc, per second, on every architecture */
#define SLACK_NS 1000000000ll /* by which two clocks may disagree */

static bool is_this_host(const char *host)
{
	struct utsname name;

	return !host || !*host || uname(&name) < 0 || strcmp(host, name.nodename) == 0;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static ssize_t read_stat(int32_t pid, char *text, size_t size)
{
	char path[40];
	ssize_t length = -1;
	int fd;

	cp_format(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, text, size - 1);
		cp_fd_close(fd);
	}
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* The n-th blank-separated field of text, from 0. */
static const char *field_at(const char *text, int n)
{
	for (; n > 0 && text; n--) {
		text = strchr(text, ' ');
		if (text)
			text++;
	}
	return text;
}

/* Is the process of this stat line alive, and was it there at realtime_ns? */
static bool is_same(const char *stat, uint64_t realtime_ns)
{
	const char *state = strrchr(stat, ')'), *start;
	int64_t ticks = 0, began;

	if (!state || !state[1])
		return false;
	state += 2;
	start = field_at(state, 19);
	if (*state == 'Z' || *state == 'X' || !start)
		return false;
	for (; *start >= '0' && *start <= '9' && ticks < INT64_MAX / 20; start++)
		ticks = ticks * 10 + (*start - '0');
	began = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
		ticks % (INT64_MAX / (1000000000ll / TICKS)) * (1000000000ll / TICKS);
	return began <= (int64_t)realtime_ns + SLACK_NS;
}

const char *cp_process_state(int32_t pid, uint64_t realtime_ns, const char *host)
{
	char stat[1024];

	if (!is_this_host(host))
		return "unknown";
	if (pid <= 0 || !cp_process_exists(pid))
		return "unknown";
	if (read_stat(pid, stat, sizeof(stat)) <= 0)
		return "running"; /* no /proc: the signal is all there is to know */
	return is_same(stat, realtime_ns) ? "running" : "unknown";
}
