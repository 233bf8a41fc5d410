/* SPDX-License-Identifier: MIT
 *
 * Overrides: ompt_start_tool, __kmpc_fork_call, __kmpc_fork_teams.
 *
 * LLVM's runtime tells a tool what it does (OMPT, OpenMP 5.0 chapter 4), but not
 * which function a region's body is, and a call of it may be the last thing that
 * a function does, so that the address it returns to is another's: the calls
 * themselves are looked at, on their way through.
 *
 * A worker's region ends when the next one begins, or never: it rests from the
 * barrier at the end on.  Tasks that are run in a barrier are the region's.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "base/export.h"
#include "base/format.h"
#include "base/once.h"
#include "base/pool.h"
#include "preload/markers/forward.h"
#include "preload/parallel/openmp.h"
#include "preload/markers/pass_on.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/parallel/teams.h"
#include "preload/self.h"
#include "preload/warn.h"
#include "base/counters/options.h"

/* ---- of the OMPT interface, what is used here ---- */

union ompt_data {
	uint64_t value;
	void *pointer;
};

typedef void any_function(void);
typedef any_function *lookup_function(const char *);

struct ompt_start {
	int (*initialize)(lookup_function *, int, union ompt_data *);
	void (*finalize)(union ompt_data *);
	union ompt_data data;
};

enum { SCOPE_BEGIN = 1, SCOPE_END };
enum { EXPLICIT = 4 }; /* of the kinds of tasks */
enum { CONTROL_NO_TOOL = -2 };
enum { KIND_TASKWAIT = 5, KIND_TASKGROUP, KIND_REDUCTION, KIND_JOIN = 9 };
enum {
	PARALLEL_BEGIN = 3,
	PARALLEL_END,
	TASK_CREATE,
	TASK_SCHEDULE,
	IMPLICIT_TASK,
	CONTROL_TOOL = 11,
	SYNC_REGION = 23
};

/* ---- parallel regions ---- */

struct region {
	struct cp_team team;
};

CP_POOL(regions, struct region);

/* NULL: one of the runtime's own, around a team of a league. */
static const struct cp_omp_site *next_site(const void *caller)
{
	static const char no_entry[] = "";
	const struct cp_omp_site *site = cp_self.omp_next;

	cp_self.omp_next = NULL;
	if (site || !caller)
		return site;
	return cp_omp_site(caller, no_entry, NULL, NULL);
}

static struct region *take_region(void)
{
	struct region *region;
	int state;

	if (!cp_enter_slowly(&state))
		return NULL;
	region = cp_pool_take(&regions);
	cp_leave_slowly(state);
	return region;
}

static void give_region(struct region *region)
{
	cp_self.depth++;
	cp_pool_give(&regions, region);
	cp_leave();
}

static void on_parallel_begin(union ompt_data *task, const void *frame,
	union ompt_data *parallel, unsigned threads, int flags, const void *caller)
{
	const struct cp_omp_site *site = next_site(caller);
	struct region *region;

	(void)task;
	(void)frame;
	(void)threads;
	(void)flags;
	parallel->pointer = NULL;
	if (!site || !site->name || site->name->left_out || !cp_counting())
		return;
	region = take_region();
	if (!region)
		return;
	cp_team_fork(&region->team, site->name);
	parallel->pointer = region;
}

static void on_parallel_end(
	union ompt_data *parallel, union ompt_data *task, int flags, const void *caller)
{
	(void)task;
	(void)flags;
	(void)caller;
	give_region(parallel->pointer);
	parallel->pointer = NULL;
}

/* ---- tasks ---- */

/* A task's data: it is a region's part of the calling thread, or an explicit task,
 * which may have ended a rest. */
enum { PART = 1, TASK, WAKING_TASK };

static void on_implicit_task(int scope, union ompt_data *parallel, union ompt_data *task,
	unsigned threads, unsigned index, int flags)
{
	const struct region *region = parallel ? parallel->pointer : NULL;

	(void)threads;
	(void)index;
	(void)flags;
	if (scope == SCOPE_BEGIN) {
		task->value = region && cp_team_begin(&region->team) ? PART : 0;
	} else if (task->value == PART) {
		cp_team_rest();
		cp_team_end_rest();
	}
}

static void on_task_create(union ompt_data *task, const void *frame,
	union ompt_data *created, int flags, int depends, const void *caller)
{
	(void)task;
	(void)frame;
	(void)depends;
	(void)caller;
	if (created && flags & EXPLICIT)
		created->value = TASK;
}

/* A task that has ended a rest goes back to it, unless another task follows. */
static void on_task_schedule(union ompt_data *before, int status, union ompt_data *after)
{
	bool was_waking = before && before->value == WAKING_TASK,
	     is_task = after && (after->value == TASK || after->value == WAKING_TASK);

	(void)status;
	if (was_waking)
		before->value = TASK;
	if (is_task && (was_waking || cp_team_go_on()))
		after->value = WAKING_TASK;
	else if (was_waking)
		cp_team_rest();
}

/* ---- barriers ---- */

static void on_sync_region(int kind, int scope, union ompt_data *parallel,
	union ompt_data *task, const void *caller)
{
	(void)caller;
	if (kind == KIND_TASKWAIT || kind == KIND_TASKGROUP || kind == KIND_REDUCTION)
		return;
	if (scope == SCOPE_BEGIN && task && task->value == PART)
		cp_team_rest();
	else if (scope == SCOPE_END && parallel && kind != KIND_JOIN)
		cp_team_go_on();
}

/* ---- the tool ---- */

/* To omp_control_tool(3) of the program we are none. */
static int on_control_tool(
	uint64_t command, uint64_t modifier, void *argument, const void *caller)
{
	(void)command;
	(void)modifier;
	(void)argument;
	(void)caller;
	return CONTROL_NO_TOOL;
}

static int initialize_tool(lookup_function *look_up, int device, union ompt_data *data)
{
	static const struct {
		int event;
		any_function *function;
	} callbacks[] = {
		{PARALLEL_BEGIN, (any_function *)(uintptr_t)on_parallel_begin},
		{PARALLEL_END, (any_function *)(uintptr_t)on_parallel_end},
		{TASK_CREATE, (any_function *)(uintptr_t)on_task_create},
		{TASK_SCHEDULE, (any_function *)(uintptr_t)on_task_schedule},
		{IMPLICIT_TASK, (any_function *)(uintptr_t)on_implicit_task},
		{CONTROL_TOOL, (any_function *)(uintptr_t)on_control_tool},
		{SYNC_REGION, (any_function *)(uintptr_t)on_sync_region},
	};
	int (*set)(int, any_function *) =
		(__typeof__(set))(uintptr_t)look_up("ompt_set_callback");

	(void)device;
	(void)data;
	if (!set)
		return 0;
	for (unsigned i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		set(callbacks[i].event, callbacks[i].function);
	cp_omp_note_told();
	return 1;
}

static void finalize_tool(union ompt_data *data)
{
	(void)data;
}

/* Tools that the runtime looks for after us: those that the user has named, and the
 * one that tells ThreadSanitizer of the runtime. */
static const char *tool_after_us(void)
{
	const char *libraries = CP_REAL(getenv)("OMP_TOOL_LIBRARIES");

	if (libraries && *libraries)
		return "OMP_TOOL_LIBRARIES";
	return dlsym(RTLD_DEFAULT, "__tsan_init") ? "ThreadSanitizer's" : NULL;
}

static bool another_tool;

static struct ompt_start *leave_to(const char *other, struct ompt_start *theirs)
{
	char line[120];

	another_tool = true;
	cp_format(line, sizeof(line),
		"no regions of OpenMP: another tool watches its runtime (%s)", other);
	cp_warn(line);
	return theirs;
}

/* There can be one tool only: another's comes first. */
EXPORT struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start ours = {initialize_tool, finalize_tool, {0}};
	__typeof__(&ompt_start_tool) next = CP_FORWARD(ompt_start_tool);
	struct ompt_start *theirs = next ? next(version, runtime) : NULL;

	if (!cp_counting() || !cp_options.openmp)
		return theirs;
	if (theirs)
		return leave_to("ompt_start_tool", theirs);
	if (tool_after_us())
		return leave_to(tool_after_us(), NULL);
	return &ours;
}

/* ---- the calls that begin a region ---- */

/* Hints to the compiler about a call. */
struct identity {
	int reserved1, flags, reserved2, reserved3;
	const char *source;
};

/* The runtime asks the first one that is loaded, and no other. */
static bool asked_before_us(void)
{
	void *first = dlsym(RTLD_DEFAULT, "ompt_start_tool");
	Dl_info ours, theirs;

	return first && dladdr(first, &theirs) &&
	       dladdr((void *)(uintptr_t)asked_before_us, &ours) &&
	       ours.dli_fbase != theirs.dli_fbase;
}

static void tell_silence(const struct cp_omp_site *site)
{
	static struct cp_once said;

	if (!site->name || another_tool || !cp_once(&said))
		return;
	if (asked_before_us())
		(void)leave_to("ompt_start_tool", NULL);
	else
		cp_warn("no regions of OpenMP: its runtime tells tools nothing "
			"(is OMP_TOOL=disabled set?)");
}

/* A body is in the object that hands it over. */
static const void *begin_call(struct cp_forward *forward, const struct identity *identity,
	const void *body, const void *caller)
{
	const char *source = identity ? identity->source : NULL;
	const struct cp_caller it = {caller, body, NULL};
	const struct cp_omp_site *site = cp_omp_site(body, forward->name,
		source && *source ? source : NULL, cp_omp_real(forward, &it));

	if (!site->told)
		tell_silence(site);
	else if (!cp_self.omp_next) /* or gcc's entry has said it, which comes here */
		cp_self.omp_next = site;
	return site->real;
}

/* Called below. */
__attribute__((used)) static const void *begin_region(
	const struct identity *identity, int count, const void *body, const void *caller)
{
	static struct cp_forward forward = {"__kmpc_fork_call", 0};

	(void)count;
	return begin_call(&forward, identity, body, caller);
}

__attribute__((used)) static const void *begin_league(
	const struct identity *identity, int count, const void *body, const void *caller)
{
	static struct cp_forward forward = {"__kmpc_fork_teams", 0};

	(void)count;
	return begin_call(&forward, identity, body, caller);
}

/* The number of arguments varies, and so they are left where they are. */
CP_PASS_ON("__kmpc_fork_call", "begin_region")
CP_PASS_ON("__kmpc_fork_teams", "begin_league")
