/* SPDX-License-Identifier: MIT
 *
 * Exports: cachepeek_api_1, the table behind the markers of regions/cachepeek.h.
 *
 * The path of a marker: enter (a TLS depth), find the node, read the counters
 * last at a begin and first at an end, so that our own work lies outside.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/format.h"
#include "preload/runtime.h"
#include "preload/threads.h"
#include "regions/cachepeek.h"
#include "preload/real.h"

/* ---- entering ---- */

/*
 * The calling thread, if it is counted and nothing of ours is under way in it.
 * busy and the state form a handshake with cp_process_end: either it sees us
 * busy and waits, or we see that it has finished.
 */
static struct cp_live_thread *enter(void)
{
	struct cp_live_thread *thread = cp_self.thread;

	if (!thread || !cp_enter())
		return NULL;
	while (__atomic_exchange_n(&thread->busy, 1, __ATOMIC_SEQ_CST) && cp_counting())
		sched_yield();
	if (__atomic_load_n(&cp_runtime.state, __ATOMIC_SEQ_CST) == CP_ON)
		return thread;
	__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	cp_leave();
	return NULL;
}

static void leave(struct cp_live_thread *thread)
{
	__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	cp_leave();
}

/* The counters alone, errno kept; the tree knows what to do with a failure. */
static int read_counters(struct cp_live_thread *thread, struct cp_reading *reading)
{
	int saved = errno, result;

	result = cp_runtime.engine->read(&thread->counters, true, reading);
	errno = saved;
	return result;
}

/* What a marker reads: between pause and resume, the moment of the pause. */
static void read_marker(
	struct cp_live_thread *thread, struct cp_reading *reading, uint64_t *now_ns)
{
	const struct cp_reading *frozen = cp_tree_frozen(&thread->tree, now_ns);

	if (frozen) {
		*reading = *frozen;
		return;
	}
	*now_ns = cp_now_ns();
	read_counters(thread, reading);
}

/* ---- misuse: each kind and name once per thread is enough ---- */

static void report_misuse(enum cp_misuse misuse, const struct cp_live_thread *thread,
	const struct cp_name *name, const struct cp_name *inner)
{
	char line[400];

	if (misuse == CP_MISUSE_NO_BEGIN)
		cp_format(line, sizeof(line),
			"END of region \"%.80s\" in thread %d, where it is not open: "
			"ignored",
			name->text, (int)thread->tid);
	else
		cp_format(line, sizeof(line),
			"END of region \"%.80s\" in thread %d while \"%.80s\" was open "
			"inside it: "
			"both are closed",
			name->text, (int)thread->tid, inner ? inner->text : "?");
	cp_warn(line);
}

static void note_misuse(enum cp_misuse misuse, struct cp_live_thread *thread,
	const struct cp_name *name, const struct cp_name *inner)
{
	static unsigned reported; /* one bit per kind */
	unsigned bit = 1u << misuse;
	int state;

	if (misuse == CP_MISUSE_NONE ||
		__atomic_fetch_or(&reported, bit, __ATOMIC_RELAXED) & bit)
		return;
	cp_sim_pause();
	CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	report_misuse(misuse, thread, name, inner);
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_sim_resume();
}

/* No memory, or no room on the disk: once is enough, too. */
static void note_not_opened(
	const struct cp_live_thread *thread, const struct cp_name *name)
{
	static bool said;
	char line[240];
	int state;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	cp_sim_pause();
	CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	cp_format(line, sizeof(line),
		"region \"%.80s\" in thread %d, or more, is not counted: no memory for "
		"it, "
		"or no room on the disk",
		name->text, (int)thread->tid);
	cp_warn(line);
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_sim_resume();
}

/* ---- the API ---- */

static cachepeek_region region_register(const char *name)
{
	struct cp_name *handle = NULL;
	int saved = errno;

	if (!name || !cp_counting() || !cp_enter())
		return NULL;
	cp_sim_pause();
	handle = cp_name_intern(name, strlen(name));
	if (!handle)
		cp_warn("a region is not counted: no memory for its name");
	cp_sim_resume();
	cp_leave();
	errno = saved;
	return handle;
}

/* A node that exists is found without leaving our own code; a new one needs
 * libc, which the simulated PMU would otherwise count as the program's. */
static struct cp_reading *open_region(struct cp_live_thread *thread, struct cp_name *name)
{
	struct cp_reading *start;
	int state;

	if (cp_tree_has_child(&thread->tree, name))
		return cp_tree_begin(&thread->tree, name);
	cp_sim_pause();
	CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	start = cp_tree_begin(&thread->tree, name);
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_sim_resume();
	return start;
}

static void begin(cachepeek_region name)
{
	struct cp_live_thread *thread = name ? enter() : NULL;
	struct cp_reading *start;
	uint64_t now_ns;

	if (!thread)
		return;
	start = open_region(thread, name);
	if (start) {
		read_marker(thread, start, &now_ns);
		cp_tree_begin_time(&thread->tree, now_ns);
	} else {
		note_not_opened(thread, name);
	}
	leave(thread);
}

static void end(cachepeek_region name)
{
	struct cp_live_thread *thread = name ? enter() : NULL;
	const struct cp_name *inner;
	struct cp_reading reading;
	enum cp_misuse misuse;
	uint64_t now_ns;

	if (!thread)
		return;
	read_marker(thread, &reading, &now_ns);
	inner = cp_tree_innermost(&thread->tree);
	misuse = cp_tree_end(&thread->tree, name, &reading, now_ns);
	note_misuse(misuse, thread, name, inner);
	leave(thread);
}

static const struct cp_quantity *find_quantity(const char *name)
{
	for (unsigned i = 0; i < cp_runtime.set.nquantities; i++)
		if (strcmp(cp_runtime.set.quantities[i].name, name) == 0)
			return &cp_runtime.set.quantities[i];
	return NULL;
}

/* Multiplexed counters are scaled, as in the report; -ENODATA if there is no
 * number that would be right. */
static int quantity_value(const struct cp_quantity *quantity,
	const struct cp_reading *reading, uint64_t *value)
{
	double sum = 0;
	uint64_t exact = 0;
	bool scaled = false;

	for (unsigned t = 0; t < quantity->nterms; t++) {
		unsigned counter = quantity->terms[t].counter;
		const struct cp_times *times =
			&reading->group[cp_runtime.set.counters[counter].group];
		uint64_t count = reading->counter[counter];

		if (!times->running)
			return -ENODATA;
		scaled |= times->running < times->enabled;
		exact += (uint64_t)quantity->terms[t].sign * count;
		sum += quantity->terms[t].sign * (double)count * (double)times->enabled /
		       (double)times->running;
	}
	if (sum < 0 || (quantity->unproven && !exact))
		return -ENODATA;
	*value = scaled ? (uint64_t)(sum + 0.5) : exact;
	return 0;
}

static int read_quantity(const char *name, uint64_t *value)
{
	struct cp_live_thread *thread = enter();
	const struct cp_quantity *quantity;
	struct cp_reading reading;
	int result = -ENOENT;

	if (!thread)
		return -ENOSYS;
	cp_sim_pause();
	quantity = find_quantity(name);
	if (quantity)
		result = quantity->available ? read_counters(thread, &reading) : -ENODATA;
	if (result == 0)
		result = quantity_value(quantity, &reading, value);
	cp_sim_resume();
	leave(thread);
	return result;
}

static void pause_regions(void)
{
	struct cp_live_thread *thread = enter();
	struct cp_reading reading;

	if (!thread)
		return;
	read_counters(thread, &reading);
	cp_tree_pause(&thread->tree, &reading, cp_now_ns());
	leave(thread);
}

static void resume_regions(void)
{
	struct cp_live_thread *thread = enter();
	struct cp_reading reading;

	if (!thread)
		return;
	read_counters(thread, &reading);
	cp_tree_resume(&thread->tree, &reading, cp_now_ns());
	leave(thread);
}

static void flush(void)
{
	struct cp_live_thread *thread = enter();
	int saved = errno, state;

	if (!thread)
		return;
	cp_sim_pause();
	CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	cp_threads_adopt();
	cp_threads_flush();
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_sim_resume();
	leave(thread);
	errno = saved;
}

extern const struct cachepeek_api cachepeek_api_1;

__attribute__((visibility("default"))) const struct cachepeek_api cachepeek_api_1 = {
	.size = sizeof(struct cachepeek_api),
	.region_register = region_register,
	.begin = begin,
	.end = end,
	.read = read_quantity,
	.pause = pause_regions,
	.resume = resume_regions,
	.flush = flush,
};
