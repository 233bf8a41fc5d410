/* SPDX-License-Identifier: MIT
 *
 * The simulated PMU, asked by client requests.  The tool that answers is
 * tools/sim; reexec.c is what puts the program under it.
 */
#include <errno.h>
#include <stddef.h>

#include "base/engine/engine.h"
#include "base/engine/simclient.h"
#include "base/fd.h"
#include "tools/sim/ask.h"
#include "tools/sim/request.h"

_Static_assert(CP_SIM_NALL <= CP_MIRROR_SIZE, "mirrors in the record are too small");
_Static_assert(CP_SIM_SAMPLE == CP_MIRROR_SIZE && CP_SIM_PARTS == CP_SAMPLE_PARTS &&
		       CP_SIM_SAMPLE_WORDS == CP_SAMPLE_WORDS &&
		       CP_SIM_NBURST == CP_SAMPLE_BURSTS &&
		       CP_SIM_SET_SWEEP == CP_SAMPLE_BURSTS + CP_SAMPLE_SETS &&
		       CP_SIM_NSAMPLED - CP_SIM_SET_HELP == CP_SAMPLE_HELP &&
		       CP_SIM_HELP_kept_lines == CP_SIM_SET_HELP + CP_HELP_KEPT &&
		       CP_SIM_HELP_code_firsts == CP_SIM_SET_HELP + CP_HELP_CODE &&
		       CP_SIM_HELP_load_firsts == CP_SIM_SET_HELP + CP_HELP_LOADS &&
		       CP_SIM_HELP_store_firsts == CP_SIM_SET_HELP + CP_HELP_STORES &&
		       CP_SIM_instructions == 0 && CP_SIM_BURST_instructions == 0,
	"reports know what is where");
_Static_assert(CP_MAX_READ >= (CP_SIM_SET_SWEEP + CP_SAMPLE_HELP) * CP_SIM_PARTS +
				      CP_MAX_COUNTERS,
	"all but sweeps have room");
_Static_assert(CP_SIM_huge_pages == CP_MIRROR_HUGE_PAGES && CP_SIM_X87 == CP_MIRROR_X87 &&
		       CP_SIM_instructions == CP_MIRROR_INSTRUCTIONS,
	"reports look there");

static const struct cp_event_set *the_set;

unsigned long cp_sim_request(unsigned long request, const void *argument)
{
	return CP_SIM_ASK(request, argument, 0, 0, 0);
}

bool cp_sim_readable(const void *page)
{
	return cp_sim_request(CP_SIM_READABLE, page) != 0;
}

unsigned long cp_sim_own_code(const void *low, const void *high)
{
	return CP_SIM_ASK(CP_SIM_OWN_CODE, low, high, 0, 0);
}

unsigned long cp_sim_bind_machine(unsigned number, const void *mirror)
{
	return CP_SIM_ASK(CP_SIM_BIND_MACHINE, number, mirror, 0, 0);
}

unsigned long cp_sim_bind_machine_sample(unsigned number, const void *mirror)
{
	return CP_SIM_ASK(CP_SIM_BIND_MACHINE_SAMPLE, number, mirror, 0, 0);
}

unsigned long cp_sim_allocator(const void *function, unsigned long kind)
{
	return CP_SIM_ASK(CP_SIM_ALLOCATOR, function, kind, 0, 0);
}

unsigned long cp_sim_descriptors(const int *pid)
{
	int **slots, *lowest, *highest;

	cp_fd_table(&slots, &lowest, &highest);
	return CP_SIM_ASK(CP_SIM_DESCRIPTORS, slots, lowest, highest, pid);
}

unsigned long cp_sim_title(const char *arguments, const char *variables, const char *end)
{
	return CP_SIM_ASK(CP_SIM_TITLE, arguments, variables, end, 0);
}

unsigned long cp_sim_tls(const void *block, size_t size, const void *image)
{
	return CP_SIM_ASK(CP_SIM_TLS, block, size, image, 0);
}

bool cp_sim_thread_comes(bool wanted)
{
	return CP_SIM_ASK(CP_SIM_THREAD_COMES, wanted, 0, 0, 0);
}

unsigned long cp_sim_stack(uintptr_t low, uintptr_t high)
{
	return CP_SIM_ASK(CP_SIM_STACK_OF_THREAD, low, high, 0, 0);
}

unsigned long cp_sim_functions(cp_sim_detour detour, const char *patterns)
{
	return CP_SIM_ASK(CP_SIM_FUNCTIONS, detour, patterns, 0, 0);
}

unsigned long cp_sim_function_name(unsigned long number, char *to, size_t size)
{
	return CP_SIM_ASK(CP_SIM_FUNCTION_NAME, number, to, size, 0);
}

void cp_sim_function_done(const void *name)
{
	cp_sim_request(CP_SIM_FUNCTION_DONE, name);
}

unsigned long cp_sim_function_again(void)
{
	return cp_sim_request(CP_SIM_FUNCTION_AGAIN, NULL);
}

unsigned long cp_sim_function_check(unsigned long n, char *to, size_t size)
{
	return CP_SIM_ASK(CP_SIM_FUNCTION_CHECK, n, to, size, 0);
}

unsigned long cp_sim_line_check(unsigned long n, char *name, char *why, size_t size)
{
	return CP_SIM_ASK(CP_SIM_LINE_CHECK, n, name, why, size);
}

bool cp_sim_active(void)
{
	return cp_sim_request(CP_SIM_HELLO, NULL) == CP_SIM_PROTOCOL;
}

bool cp_sim_is_foreign(void)
{
	return RUNNING_ON_VALGRIND && !cp_sim_active();
}

static int configure_sim(const struct cp_event_set *set)
{
	the_set = set;
	return 0;
}

/* The tool counts every thread anyway: opening is telling it where to leave
 * the counts.  Only a thread itself can do that. */
static int thread_open(struct cp_thread_counters *counters, pid_t tid, struct cp_why *why)
{
	(void)why;
	if (tid != 0 || !counters->mirror)
		return -EINVAL;
	cp_sim_request(CP_SIM_BIND, counters->mirror);
	if (counters->sample && !cp_sim_request(CP_SIM_BIND_SAMPLE, counters->sample))
		return -EINVAL;
	counters->open = true;
	return 0;
}

static int read_counters(
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading)
{
	uint64_t raw[CP_SIM_NALL] = {0};
	const uint64_t *from = counters->mirror;
	unsigned n = 0;

	reading->failed = !counters->open;
	if (!counters->open)
		return -EBADF;
	if (own) {
		cp_sim_request(CP_SIM_READ, raw);
		from = raw;
	}
	for (unsigned i = 0; i < the_set->ncounters; i++) {
		const struct cp_counter *counter = &the_set->counters[i];

		/* A request has brought them up to date. */
		for (unsigned p = 0; counter->sampled && p < CP_SAMPLE_PARTS; p++)
			reading->counter[n++] =
				counters->sample[counter->mirror - CP_SIM_SAMPLE + p];
		if (!counter->sampled)
			reading->counter[n++] = from[counter->mirror];
	}
	reading->group[0] = (struct cp_times){1, 1};
	return 0;
}

/* The mirror stays bound: the tool writes the last values when the thread is
 * really gone, and the record outlives it. */
static void thread_close(struct cp_thread_counters *counters)
{
	counters->open = false;
}

static void after_fork(struct cp_thread_counters *counters)
{
	counters->open = false; /* the tool unbinds by itself */
}

/* ---- our own work, and what the tool writes ---- */

static void pause_counting(void)
{
	cp_sim_request(CP_SIM_PAUSE, NULL);
}

static void resume_counting(void)
{
	cp_sim_request(CP_SIM_RESUME, NULL);
}

static void enter_region(uint64_t number)
{
	CP_SIM_ASK(CP_SIM_REGION, number, 0, 0, 0);
}

static void sync_mirrors(void)
{
	cp_sim_request(CP_SIM_SYNC, NULL);
}

static void bind_process(void *mirror)
{
	cp_sim_request(CP_SIM_BIND_PROCESS, mirror);
}

static void add_rows(const void *series)
{
	cp_sim_request(CP_SIM_SERIES, series);
}

const struct cp_engine cp_engine_sim = {
	.name = "sim",
	.counts_whole_threads = true,
	.runs_one_thread = true,
	.pause = pause_counting,
	.resume = resume_counting,
	.enter_region = enter_region,
	.sync = sync_mirrors,
	.bind_process = bind_process,
	.add_rows = add_rows,
	.configure = configure_sim,
	.thread_open = thread_open,
	.read = read_counters,
	.thread_close = thread_close,
	.after_fork = after_fork,
};
