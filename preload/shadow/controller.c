/* SPDX-License-Identifier: MIT
 *
 * Of the next window is expected what the last one has cost until its successor was
 * forked; of the first one, what a fork costs that copies the page tables of all that is
 * resident.
 *
 * After a fork each page that was resident faults once when the program writes to it:
 * while there is a shadow it is copied, afterwards it is only made writable again.  How
 * long either takes is measured on pages of our own.  Such faults make
 * nothing resident, most of the program's own do: so what does not is taken for the
 * fork's, up to the number of pages that were resident then.  What a program maps,
 * touches and unmaps again and again is among them, so the cost is a bound.
 */
#include "preload/shadow/controller.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/counters/options.h"
#include "base/files/memory_left.h"
#include "base/syscall.h"
#include "preload/shadow/state.h"

#define FORK_NS 500000  /* of a small program */
#define PAGE_FORK_NS 90 /* each page that is resident */
#define PAGE 4096
/* Pages of programs took 9 % (perl) and 20 % (200 MB at random) longer than ours. */
#define COLDER 115
#define OWN_MEMORY (64ul << 20)
#define LOOK_NS 250000000 /* between looks how much memory there is */

/* So many windows that meet a system call tell that the next ones do, too: then one a
 * second looks whether that has changed, and what shadows take of a core is not worth it.
 */
#define IN_VAIN 16
#define IN_VAIN_NS 1000000000

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
static void write_pages(unsigned char page[CP_PROBES][CP_PROBE_PAGE])
{
	for (unsigned i = 0; i < CP_PROBES; i++)
		__atomic_store_n(&page[i][0], 1, __ATOMIC_RELAXED);
}

static void probe(struct cp_probes *probes, unsigned char page[CP_PROBES][CP_PROBE_PAGE])
{
	uint64_t began = cpu_ns(), took;

	write_pages(page);
	took = cpu_ns() - began;
	probes->ns[probes->n++ % CP_PROBE_ROUNDS] =
		(uint32_t)(took < UINT32_MAX ? took : UINT32_MAX);
}

void cp_controller_begins(struct cp_shadows *s)
{
	s->cost.began = s->cost.reap_cpu = cpu_ns();
	write_pages(s->copied);
	write_pages(s->freed);
}

void cp_controller_add(struct cp_shadows *s, uint64_t ns)
{
	__atomic_fetch_add(&s->cost.ns, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->cost.ticks_ns, ns, __ATOMIC_RELAXED);
}

/* The median: others disturb some. */
static uint64_t median(const struct cp_probes *probes)
{
	unsigned n = probes->n < CP_PROBE_ROUNDS ? probes->n : CP_PROBE_ROUNDS, below = 0,
		 same = 0;

	for (unsigned i = 0; i < n; i++, below = same = 0) {
		for (unsigned k = 0; k < n; k++) {
			below += probes->ns[k] < probes->ns[i];
			same += probes->ns[k] == probes->ns[i];
		}
		if (below <= n / 2 && n / 2 < below + same)
			return probes->ns[i];
	}
	return 0;
}

static uint64_t ns_of(const struct cp_shadows *s, uint64_t copies)
{
	const struct cp_probes *probes =
		s->cost.has_shadow ? &s->cost.copied : &s->cost.freed;

	return copies * median(probes) * COLDER / 100 / CP_PROBES;
}

/* Of so many faults while as many pages became resident as are now more. */
static uint64_t copies_among(
	const struct cp_shadow_cost *cost, uint64_t faults, uint64_t pages)
{
	uint64_t grown = pages > cost->seen_pages ? pages - cost->seen_pages : 0,
		 copies = faults > grown ? faults - grown : 0;

	return copies > cost->shared_pages ? cost->shared_pages : copies;
}

static void settle(struct cp_shadows *s, uint64_t pages)
{
	struct cp_shadow_cost *cost = &s->cost;
	uint64_t faults = faults_now(),
		 copies = copies_among(cost, faults - cost->seen_faults, pages);

	cost->shared_pages -= copies;
	cost->seen_faults = faults;
	cost->seen_pages = pages;
	__atomic_fetch_add(&cost->ns, ns_of(s, copies), __ATOMIC_RELAXED);
}

/* Takes into account what has faulted since it was called last. */
static void settle_copies(struct cp_shadows *s)
{
	settle(s, cp_resident_pages(&s->memory.text));
}

uint64_t cp_controller_copies(struct cp_shadows *s, uint64_t faults)
{
	uint64_t pages = cp_resident_pages(&s->memory.text),
		 copies = copies_among(&s->cost, faults, pages);

	settle(s, pages);
	return ns_of(s, copies);
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
	left = cp_memory_left(&s->memory.text, "");
	wanted = cp_resident_pages(&s->memory.text) * PAGE + OWN_MEMORY;
	s->memory.looked = now;
	s->memory.is_short = left.machine < wanted || left.groups < wanted;
	if (s->memory.is_short) {
		s->memory.wanted = wanted;
		s->memory.whose =
			left.groups < left.machine ? "its cgroup" : "the machine";
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

/* What else cuts a window short, as a machine that is busy does, may be over soon. */
void cp_controller_ended(struct cp_shadows *s, uint32_t end)
{
	if (end == CP_SHADOW_MATCHED)
		s->cost.in_vain = 0;
	else if (end == CP_SHADOW_SYSCALL)
		s->cost.in_vain++;
}

uint64_t cp_controller_in_vain(const struct cp_shadows *s)
{
	uint64_t since = cpu_ns() - s->cost.reap_cpu;

	return s->cost.in_vain < IN_VAIN || since >= IN_VAIN_NS ? 0 : IN_VAIN_NS - since;
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
	s->cost.fork_cpu = cpu_ns();
}

void cp_controller_forked(struct cp_shadows *s)
{
	s->cost.has_shadow = true;
	probe(&s->cost.copied, s->copied);
}

void cp_controller_reaped(struct cp_shadows *s)
{
	settle_copies(s);
	s->cost.has_shadow = false;
	probe(&s->cost.freed, s->freed);
	s->cost.reap_cpu = cpu_ns();
}

double cp_controller_percent(struct cp_shadows *s)
{
	double passed = (double)(cpu_ns() - s->cost.began);

	settle_copies(s);
	return passed > 0 ? 100 * (double)__atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED) /
				    passed
			  : 0;
}

uint64_t cp_controller_total(struct cp_shadows *s)
{
	uint64_t ns = cpu_ns() - s->cost.began, spent;

	settle_copies(s);
	spent = __atomic_load_n(&s->cost.ns, __ATOMIC_RELAXED);
	return ns > spent ? ns - spent : 0;
}
