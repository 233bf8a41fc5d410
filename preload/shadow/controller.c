/* SPDX-License-Identifier: MIT
 *
 * Of the next window is expected what the last one has cost until its successor was
 * forked; of the first one, what a fork costs that copies the page tables of all that is
 * resident.
 *
 * After a fork each page that was resident faults once when the program writes to it:
 * while there is a shadow it is copied, afterwards it is only made writable again, which
 * takes as long where the kernel is entered by way of a hypervisor.  Such faults make
 * nothing resident, most of the program's own do: so what does not is taken for the
 * fork's, up to the number of pages that were resident then.  What a program maps,
 * touches and unmaps again and again is among them, so the cost is a bound.
 */
#include "preload/shadow/controller.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/counters/options.h"
#include "base/syscall.h"
#include "preload/shadow/memory.h"
#include "preload/shadow/state.h"

#define FORK_NS 500000  /* of a small program */
#define PAGE_FORK_NS 90 /* each page that is resident */
#define PAGE 4096
#define OWN_MEMORY (64ul << 20)
#define LOOK_NS 250000000 /* between looks how much memory there is */

static uint64_t cpu_ns(void)
{
	struct timespec now = {0, 0};

	cp_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t faults_now(void)
{
	struct rusage usage = {0};

	cp_syscall(SYS_getrusage, RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt;
}

/* Afterwards they are resident, and the program's own. */
static void write_probes(struct cp_shadows *s)
{
	for (unsigned i = 0; i < CP_PROBES; i++)
		__atomic_store_n(&s->probed[i][0], 1, __ATOMIC_RELAXED);
}

void cp_controller_begins(struct cp_shadows *s)
{
	s->cost.began = s->cost.reap_cpu = cpu_ns();
	s->cost.began_faults = faults_now();
	write_probes(s);
}

void cp_controller_add(struct cp_shadows *s, uint64_t ns)
{
	__atomic_fetch_add(&s->cost.ns, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->cost.ticks_ns, ns, __ATOMIC_RELAXED);
}

static double fault_ns(const struct cp_shadows *s)
{
	return (double)s->cost.probes_ns / CP_PROBES;
}

/* Takes into account what has faulted since it was called last. */
static void settle_copies(struct cp_shadows *s)
{
	struct cp_shadow_cost *cost = &s->cost;
	uint64_t faults = faults_now(), pages = cp_resident_pages(&s->memory.text),
		 copies = faults - cost->seen_faults,
		 grown = pages > cost->seen_pages ? pages - cost->seen_pages : 0;

	copies = copies > grown ? copies - grown : 0;
	if (copies > cost->shared_pages)
		copies = cost->shared_pages;
	cost->shared_pages -= copies;
	cost->seen_faults = faults;
	cost->seen_pages = pages;
	__atomic_fetch_add(
		&cost->ns, (uint64_t)((double)copies * fault_ns(s)), __ATOMIC_RELAXED);
}

static uint64_t expected(const struct cp_shadows *s)
{
	uint64_t since =
		__atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED) - s->cost.ns_at_fork;

	if (!s->cost.fork_cpu)
		return FORK_NS + s->cost.seen_pages * PAGE_FORK_NS;
	return since > s->cost.window_ns ? since : s->cost.window_ns;
}

/* All that is resident may have to be copied, and the simulated machine has its own. */
static bool is_memory_short(struct cp_shadows *s, uint64_t now)
{
	struct cp_memory_left left;
	uint64_t wanted;

	if (s->memory.looked && now - s->memory.looked < LOOK_NS)
		return s->memory.is_short;
	left = cp_memory_left(&s->memory.text);
	wanted = cp_resident_pages(&s->memory.text) * PAGE + OWN_MEMORY;
	s->memory.looked = now;
	s->memory.is_short = left.bytes < wanted;
	if (s->memory.is_short) {
		s->memory.wanted = wanted;
		s->memory.whose = left.whose;
	}
	return s->memory.is_short;
}

static uint64_t wait_for_budget(struct cp_shadows *s)
{
	uint64_t spent = __atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED) + expected(s),
		 passed = cpu_ns() - s->cost.began, percent = (uint64_t)cp_options.budget;

	if (percent == 0)
		return 3600000000000;
	return spent * 100 <= passed * percent ? 0 : spent * 100 / percent - passed;
}

uint64_t cp_controller_elapsed(const struct cp_shadows *s)
{
	return cpu_ns() - s->cost.began;
}

uint64_t cp_controller_rest(const struct cp_shadows *s)
{
	uint64_t took = s->cost.reap_cpu - s->cost.fork_cpu,
		 since = cpu_ns() - s->cost.reap_cpu;

	return took > since ? took - since : 0;
}

uint64_t cp_controller_wait(struct cp_shadows *s)
{
	uint64_t wait;

	settle_copies(s);
	wait = wait_for_budget(s);
	if (wait || !is_memory_short(s, cpu_ns()))
		return wait;
	s->memory.left_out++;
	return LOOK_NS;
}

void cp_controller_forks(struct cp_shadows *s)
{
	uint64_t ns;

	settle_copies(s);
	ns = __atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED);
	if (s->cost.fork_cpu)
		s->cost.window_ns = ns - s->cost.ns_at_fork;
	s->cost.ns_at_fork = ns;
	s->cost.shared_pages = s->cost.seen_pages;
	if (s->cost.seen_pages > s->cost.most_pages)
		s->cost.most_pages = s->cost.seen_pages;
	s->cost.fork_cpu = cpu_ns();
}

void cp_controller_forked(struct cp_shadows *s)
{
	uint64_t began = cpu_ns(), took;

	write_probes(s);
	took = cpu_ns() - began;
	if (!s->cost.probes_ns || took < s->cost.probes_ns)
		s->cost.probes_ns = took;
}

void cp_controller_reaped(struct cp_shadows *s)
{
	s->cost.reap_cpu = cpu_ns();
}

uint64_t cp_controller_most_mib(const struct cp_shadows *s)
{
	return s->cost.most_pages * PAGE >> 20;
}

double cp_controller_percent(struct cp_shadows *s)
{
	double passed = (double)(cpu_ns() - s->cost.began);

	settle_copies(s);
	return passed > 0 ? 100 * (double)__atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED) /
				    passed
			  : 0;
}

uint64_t cp_controller_faultless(const struct cp_shadows *s, uint64_t ns, uint64_t faults)
{
	double left = (double)ns - fault_ns(s) * (double)faults;

	return left > 0 ? (uint64_t)left : 0;
}

uint64_t cp_controller_total(const struct cp_shadows *s)
{
	uint64_t ns = cpu_ns() - s->cost.began,
		 ticks_ns = __atomic_load_n(&s->cost.ticks_ns, __ATOMIC_RELAXED);

	return cp_controller_faultless(s, ns > ticks_ns ? ns - ticks_ns : 0,
		faults_now() - s->cost.began_faults);
}
