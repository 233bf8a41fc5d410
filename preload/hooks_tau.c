/* SPDX-License-Identifier: MIT
 *
 * Overrides: Tau_start, Tau_stop, Tau_profile_c_timer, Tau_lite_start_timer,
 *   Tau_lite_stop_timer.
 *
 * TAU's timers: by name, and those of its macros, which are made once
 * (Tau_profile_c_timer) and then started and stopped.
 */
#include "preload/forward.h"
#include "preload/handles.h"

#define EXPORT __attribute__((visibility("default")))
#define TAG cp_marker_tag(CP_MARKER_TAU, 0)
#define TIMERS cp_marker_tag(CP_MARKER_TAU, 1)

void Tau_start(const char *name);
void Tau_stop(const char *name);
void Tau_profile_c_timer(void **timer, const char *name, const char *type, uint64_t group,
	const char *group_name);
void Tau_lite_start_timer(void *timer, int phase);
void Tau_lite_stop_timer(void *timer);

/* TAU may start its timers through us: that is no call of the program. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static void begin(struct cp_name *name)
{
	if (!inside)
		cp_marker_begin(name, TAG);
}

static void end(struct cp_name *name)
{
	if (!inside && name)
		cp_marker_end(name, TAG, CP_END_OWN);
}

EXPORT void Tau_start(const char *name)
{
	__typeof__(&Tau_start) real = CP_FORWARD(Tau_start);
	bool outer = inside;

	inside = true;
	if (real)
		real(name);
	inside = outer;
	begin(cp_marker_name(name));
}

EXPORT void Tau_stop(const char *name)
{
	__typeof__(&Tau_stop) real = CP_FORWARD(Tau_stop);
	bool outer = inside;

	end(cp_marker_name(name));
	inside = true;
	if (real)
		real(name);
	inside = outer;
}

EXPORT void Tau_profile_c_timer(void **timer, const char *name, const char *type,
	uint64_t group, const char *group_name)
{
	__typeof__(&Tau_profile_c_timer) real = CP_FORWARD(Tau_profile_c_timer);
	const struct cp_handle *made;

	if (real)
		real(timer, name, type, group, group_name);
	made = cp_handle_set(TIMERS, (uint64_t)(uintptr_t)*timer, cp_marker_name(name));
	if (made && !*timer)
		*timer = (void *)(uintptr_t)made->value;
}

EXPORT void Tau_lite_start_timer(void *timer, int phase)
{
	__typeof__(&Tau_lite_start_timer) real = CP_FORWARD(Tau_lite_start_timer);
	bool outer = inside;

	inside = true;
	if (real)
		real(timer, phase);
	inside = outer;
	begin(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
}

EXPORT void Tau_lite_stop_timer(void *timer)
{
	__typeof__(&Tau_lite_stop_timer) real = CP_FORWARD(Tau_lite_stop_timer);
	bool outer = inside;

	end(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
	inside = true;
	if (real)
		real(timer);
	inside = outer;
}
