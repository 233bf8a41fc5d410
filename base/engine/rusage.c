/* SPDX-License-Identifier: MIT */
#include "base/engine/rusage.h"

#include <string.h>
#include <sys/resource.h>

#include "base/format.h"
#include "base/syscall.h"
#include "base/text.h"

static bool stopped; /* atomic */

bool cp_rusage_has(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES && !attr->exclude_user;
}

/* The number behind a key of /proc/self/task/TID/status. */
static bool number_of(const char *status, const char *key, uint64_t *number)
{
	const char *at = strstr(status, key), *end;

	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t");
	return cp_parse_u64_prefix(at, &end, number) == 0;
}

static bool read_status(pid_t tid, uint64_t *switches)
{
	char path[64], status[4096];
	uint64_t voluntary, forced;

	cp_format(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	if (!cp_read_file(path, status, sizeof(status)) ||
		!number_of(status, "\nvoluntary_ctxt_switches:", &voluntary) ||
		!number_of(status, "\nnonvoluntary_ctxt_switches:", &forced))
		return false;
	*switches = voluntary + forced;
	return true;
}

static bool read_own(uint64_t *switches)
{
	struct rusage usage;

	if (cp_syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
		return false;
	*switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	return true;
}

static bool read_switches(
	const struct cp_thread_counters *counters, bool own, uint64_t *switches)
{
	if (__atomic_load_n(&stopped, __ATOMIC_RELAXED))
		return false;
	return own ? read_own(switches) : read_status(counters->tid, switches);
}

static bool stands_for(const struct cp_event_set *set,
	const struct cp_thread_counters *counters, unsigned i)
{
	return set->counters[i].rusage || counters->refused[i];
}

static bool has_any(
	const struct cp_event_set *set, const struct cp_thread_counters *counters)
{
	for (unsigned i = 0; i < set->ncounters; i++)
		if (stands_for(set, counters, i) && cp_rusage_has(&set->counters[i].attr))
			return true;
	return false;
}

void cp_rusage_open(
	const struct cp_event_set *set, struct cp_thread_counters *counters, bool own)
{
	counters->switches = 0;
	if (has_any(set, counters))
		read_switches(counters, own, &counters->switches);
}

void cp_rusage_read(const struct cp_event_set *set,
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading)
{
	/* An account has no time of its own: readings stand for it. */
	static uint64_t readings;
	uint64_t switches = counters->switches,
		 time = __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
	bool done = has_any(set, counters) && read_switches(counters, own, &switches);

	for (unsigned i = 0; i < set->ncounters; i++) {
		bool has = done && cp_rusage_has(&set->counters[i].attr);

		if (!stands_for(set, counters, i))
			continue;
		reading->counter[i] = has ? switches - counters->switches : 0;
		reading->group[set->counters[i].group] =
			(struct cp_times){time, has ? time : 0};
	}
}

void cp_rusage_stop(void)
{
	__atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
}
