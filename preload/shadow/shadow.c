/* SPDX-License-Identifier: MIT
 *
 * Whether there can be shadows, what they are given, and what is said of them.
 */
#include "preload/shadow/shadow.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters/events.h"
#include "base/counters/options.h"
#include "base/counters/simtool.h"
#include "base/error.h"
#include "base/format.h"
#include "base/map.h"
#include "base/syscall.h"
#include "preload/planned.h"
#include "preload/reexec.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/shadow/controller.h"
#include "preload/shadow/estimate.h"
#include "preload/shadow/places.h"
#include "preload/shadow/sites.h"
#include "preload/shadow/tick_signal.h"
#include "preload/shadow/ticks.h"
#include "preload/shadow/values.h"
#include "preload/threads/threads.h"
#include "preload/warn.h"

#define LIMIT 400000000 /* instructions of a window */
#define REGION_LIMIT 30000000
#define LIMIT_NS 3000000000 /* of CPU time */
#define ADDRESS_SPACE_MIB 400
#define FEW_PROCESSES 256
#define MUCH_COPIED 5 /* percent */
#define AVX512 0x62   /* the first byte of its instructions */

/* ---- may it be? ---- */

static int spare_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 2 : CPU_COUNT(&set) - 1;
}

static bool is_installed(struct cp_why *why)
{
	char path[PATH_MAX];

	if (cp_companion_path("shadow.so", path, sizeof(path)) == 0 &&
		access(path, R_OK) == 0)
		return true;
	cp_format(why->text, sizeof(why->text),
		"shadow.so is not beside the library: it was built without libVEX, or for "
		"another architecture than x86-64 (install valgrind, and `make install`)");
	return false;
}

static bool has_core(struct cp_why *why)
{
	if (spare_cpus() >= 1)
		return true;
	cp_format(why->text, sizeof(why->text),
		"there is no spare core for shadows: the program may use one CPU only "
		"(taskset, mpirun without --bind-to none, or a limit of its container): allow it two");
	return false;
}

static bool is_limited(int resource, rlim_t least)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur < least;
}

/* Limits are shared with the program, which would have less. */
static bool has_limits(struct cp_why *why)
{
	if (is_limited(RLIMIT_AS, RLIM_INFINITY))
		cp_format(why->text, sizeof(why->text),
			"shadows would take %d MiB of the address space that the program "
			"may have: raise `ulimit -v`",
			ADDRESS_SPACE_MIB);
	else if (is_limited(RLIMIT_NPROC, FEW_PROCESSES))
		cp_format(why->text, sizeof(why->text),
			"a shadow might take the place of one of the program's processes: "
			"raise `ulimit -u` to %d",
			FEW_PROCESSES);
	else
		return true;
	return false;
}

static bool is_native(struct cp_why *why)
{
	if (!cp_sim_is_foreign())
		return true;
	cp_format(why->text, sizeof(why->text), "it runs under Valgrind: run it without");
	return false;
}

bool cp_shadow_possible(struct cp_why *why)
{
	return is_installed(why) && is_native(why) && has_core(why) && has_limits(why) &&
	       cp_code_is_writable(why);
}

static long reap(long child)
{
	long ended;

	do
		ended = cp_syscall(SYS_wait4, child, NULL, __WCLONE, NULL);
	while (ended == -EINTR);
	return ended;
}

bool cp_shadow_may_fork(struct cp_why *why)
{
	long child = cp_syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);

	if (child == 0)
		for (;;)
			cp_syscall(SYS_exit_group, 0L);
	if (child > 0 && reap(child) == child)
		return true;
	cp_format(why->text, sizeof(why->text),
		"the system refuses a fork of the program (%s): allow clone and wait4 (a filter "
		"of system calls, seccomp), or more processes (a limit of its container)",
		cp_error_text(child < 0 ? (int)-child : ECHILD));
	return false;
}

/* ---- the beginning ---- */

static const struct cp_shadow *load_shadow(void)
{
	const struct cp_shadow *loaded;
	char path[PATH_MAX];
	void *object;

	if (cp_companion_path("shadow.so", path, sizeof(path)) < 0)
		return NULL;
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	loaded = object ? dlsym(object, "cp_shadow") : NULL;
	return loaded && loaded->protocol == CP_SHADOW_PROTOCOL ? loaded : NULL;
}

static void add_code(struct cp_shadow_plan *plan, const char *object)
{
	const ElfW(Ehdr) *file = (const void *)object;
	const ElfW(Phdr) *segment = (const void *)(object + file->e_phoff);
	unsigned n = 0;

	while (n < CP_SHADOW_CODES && plan->own[n].begin)
		n++;
	for (unsigned i = 0; i < file->e_phnum && n < CP_SHADOW_CODES; i++) {
		if (segment[i].p_type != PT_LOAD || !(segment[i].p_flags & PF_X))
			continue;
		plan->own[n].begin = object + segment[i].p_vaddr;
		plan->own[n].end = plan->own[n].begin + segment[i].p_memsz;
		n++;
	}
}

/* Our code, which the simulated PMU does not count either: the library's first, and what
 * patches functions, if it is there. */
static void find_own_code(struct cp_shadow_plan *plan)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	char path[PATH_MAX];
	void *patcher = NULL, *inside;
	Dl_info info;

	add_code(plan, __ehdr_start);
	if (cp_companion_path("patcher.so", path, sizeof(path)) == 0)
		patcher = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	inside = patcher ? dlsym(patcher, "cp_patcher") : NULL;
	if (inside && dladdr(inside, &info))
		add_code(plan, info.dli_fbase);
	if (patcher)
		dlclose(patcher);
}

static int start(struct cp_shadows *s, char *why, size_t size)
{
	struct cp_shadow_plan plan = {.shared = s->shared,
		.limit = LIMIT,
		.region_limit = REGION_LIMIT,
		.limit_ns = LIMIT_NS};
	struct cp_sim_words words;
	int result;

	if (!s->shadow) {
		cp_format(why, size,
			"shadow.so cannot be loaded, or is of another "
			"version (`make install`)");
		return -ENOENT;
	}
	cp_sim_describe(&cp_plan.machine[0], &words);
	plan.words = words.word;
	plan.nwords = CP_NLEVELS + 2; /* the rest is of time */
	find_own_code(&plan);
	result = s->shadow->start(&plan, why, size);
	s->plain = result == 0 && s->shadow->is_plain();
	return result < 0 ? result : cp_ticks_start(s, why, size);
}

static size_t size_of_shared(bool places)
{
	return sizeof(struct cp_shadow_shared) +
	       (places ? sizeof(struct cp_shadow_misses) : 0);
}

static void give_back(struct cp_shadows *s)
{
	if (s && s->shared)
		munmap(s->shared, size_of_shared(s->shared->misses != NULL));
	if (s) {
		cp_places_give_back(s->places);
		munmap(s, sizeof(*s));
	}
}

/* Whoever asks for a profile has none without memory for it. */
static void begin_places(struct cp_shadows *s)
{
	s->places = cp_places_new();
	if (s->places)
		s->shared->misses = (struct cp_shadow_misses *)(s->shared + 1);
}

static struct cp_shadows *new_shadows(char *why, size_t size)
{
	struct cp_shadows *s = cp_map(sizeof(*s), -1, 0);

	if (s)
		s->shared = cp_map_shared(size_of_shared(cp_places_wanted()));
	if (s)
		s->calls = &cp_site_calls;
	if (s && s->shared && cp_places_wanted())
		begin_places(s);
	if (s && s->shared && (s->places || !cp_places_wanted()))
		return s;
	give_back(s);
	cp_format(why, size, "there is no memory for shadows");
	return NULL;
}

static int make_shadows(char *why, size_t size)
{
	struct cp_shadows *s = new_shadows(why, size);

	if (!s)
		return -ENOMEM;
	s->shadow = load_shadow();
	return start(s, why, size);
}

static void warn_of_none(const struct cp_why *why)
{
	char line[CP_WHY_SIZE + 80];

	cp_format(line, sizeof(line), "CACHEPEEK_ENGINE=shadow: there are no shadows: %s",
		why->text);
	cp_warn(line);
}

void cp_shadow_begun(void)
{
	struct cp_why why = {{0}};

	if (cp_runtime.shadowed && (!cp_shadow_possible(&why) ||
					   make_shadows(why.text, sizeof(why.text)) < 0))
		warn_of_none(&why);
}

/* A fork child has what its parent has loaded, and all else anew. */
static int make_again(const struct cp_shadow *shadow, char *why, size_t size)
{
	struct cp_shadows *s = new_shadows(why, size);

	if (!s)
		return -ENOMEM;
	s->shadow = shadow;
	s->plain = shadow->is_plain();
	if (shadow->start_again(s->shared) < 0) {
		cp_format(why, size, "there is no memory for shadows");
		return -ENOMEM;
	}
	return cp_ticks_start(s, why, size);
}

void cp_shadow_start_child(void)
{
	const struct cp_shadow *shadow = cp_runtime.parents_shadow;
	struct cp_why why = {{0}};

	cp_runtime.parents_shadow = NULL;
	if (shadow && cp_runtime.shadowed &&
		make_again(shadow, why.text, sizeof(why.text)) < 0)
		warn_of_none(&why);
}

/* ---- what is said of it ---- */

#define say(...) cp_keep_note("shadow", __VA_ARGS__)

static const char *const end_texts[] = {
#define X(name, text) text,
	CP_SHADOW_ENDS(X)
#undef X
};

/* 12.34, of a number that is not negative: cp_format has no %f. */
#define HUNDREDTHS(x) (unsigned long)((x) + 0.005), (unsigned)((x)*100 + 0.5) % 100

static void say_windows(double mean, double cost)
{
	const struct cp_shadow_log *log = &cp_runtime.shadows->log;
	unsigned lost = 0;

	for (int end = 1; end < CP_SHADOW_NENDS; end++)
		lost += log->ended[end];
	say("%u windows are counted, of %lu instructions on average; %u are lost; their "
	    "forks and copied pages cost at most %lu.%02u %% of the CPU time",
		log->nwindows, (unsigned long)mean, lost, HUNDREDTHS(cost));
	for (int end = 1; end < CP_SHADOW_NENDS; end++)
		if (log->ended[end])
			say("%u windows %s (the last: %u, %lx)", log->ended[end],
				end_texts[end], log->last_detail[end],
				(unsigned long)log->last_where[end]);
	if (log->refused)
		say("%u forks were refused: error %d (is there a limit of processes, "
		    "`ulimit -u`?)",
			log->refused, log->refused_error);
	if (log->put_off)
		say("windows were put off %u times: they would have cost more than "
		    "CACHEPEEK_BUDGET=%d %% of the CPU time",
			log->put_off, cp_options.budget);
	if (log->waited)
		say("windows were put off %u times: those before had all met system calls, so "
		    "there was one a second of CPU time",
			log->waited);
	if (log->ended[CP_SHADOW_UNDECODED] &&
		log->last_detail[CP_SHADOW_UNDECODED] == AVX512)
		say("libVEX has no AVX-512, and shadow.so was built without what executes it "
		    "(libzydis-dev): with GLIBC_TUNABLES="
		    "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW libc uses none");
}

/* It is known well enough where there is little of it. */
static void say_copies(const struct cp_shadow_windows *windows)
{
	double copied = 0, ns = 0, percent;

	for (unsigned i = 0; i < windows->n; i++) {
		copied += (double)windows->window[i].copied_ns;
		ns += (double)windows->window[i].cpu_ns;
	}
	percent = copied > 0 ? 100 * copied / (copied + ns) : 0;
	if (percent >= MUCH_COPIED)
		say("copies of pages, which a fork makes, took %u %% of the time of windows: "
		    "it is known to a fifth, and intervals are wider for that "
		    "(CACHEPEEK_ENGINE=sim counts exactly)",
			(unsigned)percent);
}

static double mean_instructions(const struct cp_shadow_windows *windows)
{
	double sum = 0;

	for (unsigned i = 0; i < windows->n; i++)
		sum += (double)windows->window[i].count[CP_SHADOW_instructions];
	return windows->n ? sum / windows->n : 0;
}

static void say_regions(const struct cp_shadow_log *log)
{
	unsigned counted = log->ended[CP_SHADOW_REGION], cut = 0;

	for (int end = 0; end < CP_SHADOW_NENDS; end++)
		cut += end == CP_SHADOW_REGION ? 0 : log->ended[end];
	if (counted + cut == 0)
		return;
	say("%u windows are of executions of regions; %u more were cut before their end",
		counted, cut);
	for (int end = 0; end < CP_SHADOW_NENDS; end++)
		if (end != CP_SHADOW_REGION && log->ended[end])
			say("%u of those %s (the last: %u, %lx)", log->ended[end],
				end_texts[end], log->last_detail[end],
				(unsigned long)log->last_where[end]);
}

static void say_all(struct cp_shadows *s)
{
	const struct cp_shadow_windows windows = {s->log.window, s->log.nwindows, 0};

	if (s->log.ticks)
		say_windows(mean_instructions(&windows), cp_controller_percent(s));
	say_regions(&s->regions);
	say_copies(&windows);
	if (s->memory.left_out)
		say("%u windows were left out, as memory was short: a shadow may take %lu MiB, "
		    "and %s had less left (give it more, or CACHEPEEK_ENGINE=sim)",
			s->memory.left_out, (unsigned long)(s->memory.wanted >> 20),
			s->memory.whose);
	if (s->untimed)
		say("%u threads had no windows: there were more than %d at a time, or no "
		    "timers for them",
			s->untimed, CP_TICKERS);
}

/* ---- what is estimated ---- */

void cp_shadow_prepare(void)
{
	const struct cp_event_set *set = &cp_plan.set;
	struct cp_shadowed_item *made;

	if (!cp_run.shadows)
		return;
	made = cp_record_reserve(&cp_runtime.record,
		sizeof(*made) + set->nquantities * sizeof(made->of[0]));
	if (!made)
		return;
	for (unsigned q = 0; q < set->nquantities; q++)
		if (set->quantities[q].shadowed)
			made->of[q] = (struct cp_shadowed){
				.why = CP_SHADOWED_NOT_YET, .without = 1};
	cp_item_publish(made, CP_ITEM_SHADOWED);
	cp_runtime.shadowed = made;
}

/* ---- steps ---- */

static void say_cut(struct cp_shadows *s, const char *did)
{
	s->cut = true;
	say("the program %s: no windows from there on", did);
}

static void conclude(void)
{
	struct cp_shadows *s = cp_runtime.shadows;

	if (!cp_runtime.shadowed || !cp_runtime.record.header)
		return;
	if (cp_ticks_are_on() && !cp_tick_signal_is_ours())
		say_cut(s, "cancelled a thread (pthread_cancel)");
	cp_ticks_stop();
	cp_values_fill(s);
	cp_places_write(s);
	if (s)
		say_all(s);
	cp_runtime.shadows = NULL;
	cp_runtime.shadowed = NULL;
}

void cp_shadow_finish(void)
{
	conclude();
}

static void forget(void)
{
	cp_runtime.shadows = NULL;
	cp_runtime.parents_shadow = NULL;
	cp_runtime.shadowed = NULL;
	cp_runtime.watch = NULL;
}

/* In a fork child that goes back into our code, which may use them. */
void cp_shadow_forked_inside(void)
{
	forget();
}

/* In another one: they were the parent's. */
void cp_shadow_after_fork(void)
{
	struct cp_shadows *s = cp_runtime.shadows;

	forget();
	if (s)
		cp_runtime.parents_shadow = s->shadow;
	give_back(s);
}

void cp_shadow_before_job(void)
{
	bool were_on = cp_ticks_are_on();

	cp_ticks_stop();
	cp_values_fill(cp_runtime.shadows);
	if (were_on)
		cp_ticks_resume();
}

void cp_shadow_before_exec(void)
{
	cp_ticks_stop();
	cp_values_fill(cp_runtime.shadows);
	if (cp_runtime.shadowed)
		cp_places_write(cp_runtime.shadows);
}

void cp_shadow_exec_failed(void)
{
	cp_ticks_resume();
}

/* Later the clock may not be asked, and a tick may not return. */
void cp_shadow_before_confined(void)
{
	struct cp_shadows *s = cp_runtime.shadows;

	if (!s)
		return;
	if (cp_ticks_are_on())
		say_cut(s, "forbade itself system calls (seccomp)");
	conclude();
	cp_ticks_disarm(s);
}
