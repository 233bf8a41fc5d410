/* SPDX-License-Identifier: MIT
 *
 * Overrides: ps_tool_finalize, ps_tool_register_thread,
 *   ps_tool_pause_measurement, ps_tool_resume_measurement, ps_tool_dump_data,
 *   ps_tool_timer_create, ps_tool_timer_start, ps_tool_timer_stop,
 *   ps_tool_start_string, ps_tool_stop_string, ps_tool_stop_current,
 *   ps_tool_dynamic_phase_start, ps_tool_dynamic_phase_stop.
 *
 * PerfStubs: programs look for a tool's functions by these names, and for each
 * whether it is there.  Those about counters, parameters and metadata are left to
 * a tool behind us, and so is ps_tool_initialize: by that PerfStubs decides whether
 * there is a tool, and says on standard output that it found one.  Where the user has
 * none, perfstubs/tool.c is to be preloaded.  Iteration numbers of phases are no regions
 * of their own.
 */
#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"

static CP_MARKER_TOOL(this_tool, " of PerfStubs");

#define TAG cp_marker_tag(&this_tool, 0)
#define TIMERS cp_marker_tag(&this_tool, 1)

void ps_tool_finalize(void);
void ps_tool_register_thread(void);
void ps_tool_pause_measurement(void);
void ps_tool_resume_measurement(void);
void ps_tool_dump_data(void);
void ps_tool_timer_start(void *timer);
void ps_tool_timer_stop(void *timer);

static void do_nothing(void)
{
}

static void begin_timer(struct cp_name *name)
{
	cp_marker_begin(name, TAG);
}

static void end_timer(struct cp_name *name)
{
	if (name)
		cp_marker_end(name, TAG, CP_END_OWN);
}

/* Without an argument: what we do, then the tool. */
#define PLAIN(function, ours)                                                            \
	EXPORT void function(void)                                                       \
	{                                                                                \
		ours();                                                                  \
		CP_PASS(function, );                                                     \
	}
PLAIN(ps_tool_finalize, do_nothing)
PLAIN(ps_tool_register_thread, do_nothing)
PLAIN(ps_tool_pause_measurement, cp_marker_pause)
PLAIN(ps_tool_resume_measurement, cp_marker_resume)
PLAIN(ps_tool_dump_data, cp_marker_flush)

/* A tool that does not make timers, but starts them, meets none of ours. */
EXPORT void *ps_tool_timer_create(const char *name)
{
	__typeof__(&ps_tool_timer_create) real = CP_FORWARD(ps_tool_timer_create);
	void *timer = real ? real(name) : NULL;
	const struct cp_handle *made;

	if (!timer && (real || CP_FORWARD(ps_tool_timer_start) ||
			      CP_FORWARD(ps_tool_timer_stop)))
		return NULL;
	made = cp_handle_set(TIMERS, (uint64_t)(uintptr_t)timer, cp_marker_name(name));
	return timer || !made ? timer : (void *)(uintptr_t)made->value;
}

EXPORT void ps_tool_timer_start(void *timer)
{
	CP_PASS(ps_tool_timer_start, timer);
	begin_timer(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
}

EXPORT void ps_tool_timer_stop(void *timer)
{
	end_timer(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
	CP_PASS(ps_tool_timer_stop, timer);
}

EXPORT void ps_tool_start_string(const char *name)
{
	CP_PASS(ps_tool_start_string, name);
	begin_timer(cp_marker_name(name));
}

EXPORT void ps_tool_stop_string(const char *name)
{
	end_timer(cp_marker_name(name));
	CP_PASS(ps_tool_stop_string, name);
}

EXPORT void ps_tool_stop_current(void)
{
	cp_marker_end(NULL, TAG, CP_END_OWN);
	CP_PASS(ps_tool_stop_current, );
}

EXPORT void ps_tool_dynamic_phase_start(const char *name, int index)
{
	CP_PASS(ps_tool_dynamic_phase_start, name, index);
	begin_timer(cp_marker_name(name));
}

EXPORT void ps_tool_dynamic_phase_stop(const char *name, int index)
{
	end_timer(cp_marker_name(name));
	CP_PASS(ps_tool_dynamic_phase_stop, name, index);
}
