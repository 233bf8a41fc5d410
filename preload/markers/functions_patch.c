/* SPDX-License-Identifier: MIT
 *
 * Functions of unmodified programs as regions where the kernel counts: patcher.so changes
 * their entries, and calls back here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/counters/options.h"
#include "base/env.h"
#include "base/files/debug_path.h"
#include "base/format.h"
#include "base/text/name_pattern.h"
#include "base/files/trusted.h"
#include "preload/planned.h"
#include "preload/follow.h"
#include "preload/libc/real.h"
#include "preload/program/breakpoints.h"
#include "preload/program/fatal.h"
#include "preload/program/jump.h"
#include "preload/cases/cases.h"
#include "preload/markers/functions.h"
#include "preload/markers/markers.h"
#include "preload/cases/naming.h"
#include "preload/patch/patch.h"
#include "preload/program/readable.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/walk.h"
#include "preload/warn.h"
#include "preload/threads/thread_record.h"

#define TAG cp_marker_tag_of(CP_MARKER_FUNCTION, 2)

/* The functions that are patched, which a fork's child keeps. */
static struct {
	const struct cp_patcher *patcher; /* NULL: nothing is patched */
	bool begun;                       /* what is called now, the program calls */
	struct cp_store store;            /* of functions */
	bool chosen;                      /* there are any */
	char debug_cache[PATH_MAX];
	struct cp_breakpoints stops; /* functions that cannot be patched */
} patching;

bool cp_functions_can_be_patched(void)
{
#if (defined(__x86_64__) && !defined(__ILP32__)) ||                                      \
	(defined(__aarch64__) && !defined(__ILP32__))
	return true;
#else
	return false;
#endif
}

/* ---- for the patcher ---- */

/* Where a region would have no path of its own, the calls are not followed: recursion may
 * be as deep as it likes. */
static uint32_t *can_begin(void)
{
	bool can = patching.begun && !cp_follow_is_copy() && cp_self.thread &&
		   cp_self.depth == 0 && !cp_self.dead && cp_counting() &&
		   cp_self.counting <= (uintptr_t)__builtin_frame_address(0) &&
		   cp_self.thread->tree.depth <= CP_TREE_DEPTH;

	return can ? &cp_self.function : NULL;
}

/* Calls that libc makes for us meanwhile are not regions of the program.  If a handler
 * leaves us by a jump, we are not there any more, and the stack pointer is above. */
static void *begin_function(void *function, const uintptr_t *arguments)
{
	struct cp_name *name;

	cp_self.counting = (uintptr_t)__builtin_frame_address(0);
	name = cp_function_called(function, arguments);
	cp_marker_begin(name, TAG);
	cp_self.counting = 0;
	return name;
}

static void end_functions(void *region)
{
	cp_self.counting = (uintptr_t)__builtin_frame_address(0);
	cp_marker_end(region, TAG, CP_END_ALONE);
	cp_self.counting = 0;
}

static uint32_t *innermost_function(void)
{
	return &cp_self.function;
}

/* Under the dynamic linker's lock. */
static void *function_of(const char *name, const char *plain, struct cp_span naming)
{
	struct cp_function *function = cp_store_take(&patching.store, sizeof(*function));

	if (!function || !cp_function_set(function, name, plain, naming))
		return NULL;
	patching.chosen = true;
	return function;
}

static int open_file(const char *path)
{
	char why[160];

	return cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, why, sizeof(why));
}

static bool take_trap(const siginfo_t *info, const void *context)
{
	return cp_breakpoints_take(&patching.stops, info, context);
}

static void yield_traps(const char *why)
{
	cp_breakpoints_stop(&patching.stops, why);
}

/* How many breakpoints are free: nothing is counted with them. */
static unsigned free_breakpoints(void)
{
	const struct cp_event_set *set = &cp_plan.set;
	unsigned room = CP_BREAKPOINTS;

	for (unsigned i = 0; i < set->ncounters; i++)
		if (set->counters[i].attr.type == PERF_TYPE_BREAKPOINT && room > 0)
			room--;
	return room;
}

/* Threads that exist already would have none: nobody else is there in the constructor. */
static bool stop_at(uintptr_t address, uint32_t number, cp_patch_entered *entered)
{
	static const struct cp_trap_owner owner = {take_trap, yield_traps};
	struct cp_breakpoints *stops = &patching.stops;

	if (!cp_breakpoints_are_used())
		return false;
	if (patching.begun)
		stops->why = "not in what is loaded later";
	else if (!cp_fatal_own_traps(&owner))
		stops->why = "SIGTRAP is not at its default";
	stops->entered = entered;
	stops->room = free_breakpoints();
	return !stops->why && cp_breakpoint_set(stops, address, number);
}

static const struct cp_patch_host host = {
	.can_begin = can_begin,
	.begin = begin_function,
	.end = end_functions,
	.innermost = innermost_function,
	.function = function_of,
	.stop_at = stop_at,
	.enter = cp_enter,
	.leave = cp_leave,
	.walk = cp_walk_objects,
	.can_read = cp_can_read,
	.open = open_file,
	.debug_cache = patching.debug_cache,
};

/* ---- the beginning ---- */

static const struct cp_patcher *load_patcher(void)
{
	char path[PATH_MAX];
	void *object;

	if (cp_companion_path("patcher.so", path, sizeof(path)) < 0)
		return NULL;
	object = CP_REAL(dlopen)(path, RTLD_NOW | RTLD_LOCAL);
	return object ? dlsym(object, "cp_patcher") : NULL;
}

static void note_jump(uintptr_t sp)
{
	patching.patcher->jump(sp);
}

void cp_functions_patch(const char *patterns)
{
	if (!cp_functions_can_be_patched() || !cp_functions_chosen(patterns))
		return;
	patching.patcher = load_patcher();
	if (!patching.patcher) {
		cp_warn("func: in CACHEPEEK_REGIONS is ignored: "
			"patcher.so is not installed beside the library: "
			"`make install`");
		return;
	}
	(void)cp_debug_cache(
		patching.debug_cache, sizeof(patching.debug_cache), cp_env_get);
	patching.patcher->start(&host, patterns);
	cp_jump_watch(note_jump);
}

void cp_functions_begun(void)
{
	patching.begun = true;
}

void cp_functions_start_child(void)
{
	cp_breakpoints_reopen(&patching.stops);
}

void cp_functions_after_fork(void)
{
	cp_breakpoints_forget(&patching.stops);
}

void cp_functions_before_confined(void)
{
	yield_traps("the program forbids itself system calls");
}

/* ---- the end ---- */

static void tell_pattern(struct cp_span piece, bool found)
{
	int length = (int)(piece.end - piece.at);

	if (found)
		cp_keep_note("function_seen", "%.*s", length, piece.at);
	else
		cp_keep_note("no_function", "%.*s: no function has that name%s", length,
			piece.at,
			patching.patcher->looks_later()
				? ""
				: "; libraries that are loaded later are not looked at");
}

/* Whether what we execute ourselves is in its counts. */
static bool counts_our_work(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK;
	return attr->type != PERF_TYPE_BREAKPOINT;
}

/* The cost of a marked pair is subtracted (calibrate.h); entries and exits of
 * functions cost more, and that has not been measured. */
static void tell_cost(void)
{
	const struct cp_event_set *set = &cp_plan.set;

	for (unsigned i = 0; i < set->ncounters; i++)
		if (counts_our_work(&set->counters[i].attr)) {
			cp_keep_note("function_note",
				"a call counts some of the work "
				"of beginning and ending its region, "
				"which is not subtracted: "
				"a function of few instructions has too many "
				"(the simulated PMU counts none)");
			return;
		}
}

static void tell_patterns(void)
{
	const char *list = cp_options.regions;
	bool found_case = false, found;
	struct cp_span piece;
	int except;

	while ((piece = cp_next_function(&list, &except)).at) {
		if (except)
			continue;
		found = patching.patcher->found(piece.at, (size_t)(piece.end - piece.at));
		if (cp_is_rule(piece))
			found_case |= found;
		else
			tell_pattern(piece, found);
	}
	cp_cases_check(cp_options.regions, found_case);
}

static void tell_stopped(void)
{
	const struct cp_breakpoints *stops = &patching.stops;
	uint64_t missed = cp_breakpoints_missed(stops);
	struct cp_patch_refused refused;

	patching.patcher->refused(CP_PATCH_STOPPED, &refused);
	if (stops->count)
		cp_keep_note("function_note",
			"%s cannot be patched, and %s at a breakpoint of the CPU, "
			"which takes microseconds at each call",
			refused.names, stops->count == 1 ? "begins" : "begin");
	if (stops->given_up)
		cp_keep_note("function_note",
			"calls of %s are counted up to where breakpoints were given up: %s",
			refused.names, stops->given_up);
	if (missed)
		cp_keep_note("function_note",
			"%lu call%s of %s %s not counted: SIGTRAP was blocked",
			(unsigned long)missed, missed == 1 ? "" : "s", refused.names,
			missed == 1 ? "is" : "are");
	if (stops->why && stops->error)
		cp_keep_note("function_note", "no breakpoint instead: %s (error %d)",
			stops->why, stops->error);
	else if (stops->why)
		cp_keep_note("function_note", "no breakpoint instead: %s", stops->why);
}

static void tell_refused(void)
{
	struct cp_patch_refused refused;
	char more[32];

	for (int why = 0; why < CP_PATCH_STOPPED; why++) {
		patching.patcher->refused(why, &refused);
		cp_format(more, sizeof(more), " and %u more",
			refused.count - refused.named);
		if (refused.why && refused.count)
			cp_keep_note("function_note", "%u%s no region%s: %s: %s%s",
				refused.count,
				refused.count == 1 ? " function is" : " functions are",
				refused.count == 1 ? "" : "s", refused.why, refused.names,
				refused.count > refused.named ? more : "");
	}
}

void cp_functions_check(void)
{
	uint64_t missed;

	if (!patching.patcher)
		return;
	cp_breakpoints_stop(&patching.stops, NULL);
	tell_patterns();
	tell_refused();
	tell_stopped();
	if (patching.chosen)
		tell_cost();
	missed = patching.patcher->missed();
	if (missed)
		cp_keep_note("function_note",
			"%lu calls of functions are not counted: "
			"too many were under way at once, "
			"or were left in a way that nobody sees",
			(unsigned long)missed);
}
