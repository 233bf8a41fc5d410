/* SPDX-License-Identifier: MIT
 *
 * Overrides: Tau_start, Tau_stop, Tau_profile_c_timer, Tau_lite_start_timer,
 *   Tau_lite_stop_timer, Tau_start_timer, Tau_stop_timer, Tau_dynamic_start,
 *   Tau_dynamic_stop; tauCreateFI with names and types of either kind, of the macros
 *   TAU_PROFILE and TAU_PHASE in C++.
 *
 * TAU's timers: by name, and those of its macros, which are made once
 * (Tau_profile_c_timer, tauCreateFI) and then started and stopped.  Iteration numbers
 * of dynamic timers are no regions of their own.
 */
#include <string.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/self.h"

static CP_MARKER_TOOL(this_tool, " of TAU");

#define TAG cp_marker_tag(&this_tool, 0)
#define TIMERS cp_marker_tag(&this_tool, 1)

static void begin_timer(struct cp_name *name)
{
	if (!cp_self.within.tau)
		cp_marker_begin(name, TAG);
}

static void end_timer(struct cp_name *name)
{
	if (!cp_self.within.tau && name)
		cp_marker_end(name, TAG, CP_END_OWN);
}

EXPORT void Tau_start(const char *name)
{
	CP_PASS_WITHIN(cp_self.within.tau, Tau_start, name);
	begin_timer(cp_marker_name(name));
}

EXPORT void Tau_stop(const char *name)
{
	end_timer(cp_marker_name(name));
	CP_PASS_WITHIN(cp_self.within.tau, Tau_stop, name);
}

EXPORT void Tau_dynamic_start(const char *name, int phase)
{
	CP_PASS_WITHIN(cp_self.within.tau, Tau_dynamic_start, name, phase);
	begin_timer(cp_marker_name(name));
}

EXPORT void Tau_dynamic_stop(const char *name, int phase)
{
	end_timer(cp_marker_name(name));
	CP_PASS_WITHIN(cp_self.within.tau, Tau_dynamic_stop, name, phase);
}

/* ---- timers that are made ---- */

/* Where TAU is there and has made none, there is none: it would be handed ours. */
static void note_timer(void **timer, const char *name, bool is_there)
{
	const struct cp_handle *made;

	if (!*timer && is_there)
		return;
	made = cp_handle_set(TIMERS, (uint64_t)(uintptr_t)*timer, cp_marker_name(name));
	if (made && !*timer)
		*timer = (void *)(uintptr_t)made->value;
}

EXPORT void Tau_profile_c_timer(void **timer, const char *name, const char *type,
	uint64_t group, const char *group_name)
{
	__typeof__(&Tau_profile_c_timer) real = CP_FORWARD(Tau_profile_c_timer);

	if (real)
		real(timer, name, type, group, group_name);
	note_timer(timer, name, real != NULL);
}

/* In libstdc++ a string begins with a pointer to its text. */
static const char *text_of(const void *string)
{
	const char *text;

	memcpy(&text, string, sizeof(text));
	return text;
}

static const char *keep_as_is(const void *text)
{
	return text;
}

#define CREATE(function, name_of)                                                        \
	EXPORT void function(void **timer, const void *name, const void *type,           \
		uint64_t group, const char *group_name)                                  \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		if (real)                                                                \
			real(timer, name, type, group, group_name);                      \
		note_timer(timer, name_of(name), real != NULL);                          \
	}
CREATE(_Z11tauCreateFIPPvPKcS2_mS2_, keep_as_is)
CREATE(_Z11tauCreateFIPPvPKcRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEmS2_,
	keep_as_is)
CREATE(_Z11tauCreateFIPPvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPKcmSA_,
	text_of)
CREATE(_Z11tauCreateFIPPvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_mPKc,
	text_of)

EXPORT void Tau_lite_start_timer(void *timer, int phase)
{
	CP_PASS_WITHIN(cp_self.within.tau, Tau_lite_start_timer, timer, phase);
	begin_timer(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
}

EXPORT void Tau_lite_stop_timer(void *timer)
{
	end_timer(cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer));
	CP_PASS_WITHIN(cp_self.within.tau, Tau_lite_stop_timer, timer);
}

int Tau_get_thread(void);

/* The thread is a number of TAU's, which also keeps the timers of devices: those are no
 * thread's, and NULL here. */
static struct cp_name *name_in(
	int thread, void *timer, const void *beside, const void *caller)
{
	static struct cp_forward forward = {"Tau_get_thread", 0};
	struct cp_name *name =
		cp_self.within.tau ? NULL
				   : cp_handle_name(TIMERS, (uint64_t)(uintptr_t)timer);
	__typeof__(&Tau_get_thread) real;

	if (!name)
		return NULL;
	real = (__typeof__(&Tau_get_thread))(uintptr_t)cp_forward_beside(
		&forward, beside, caller);
	return !real || real() == thread ? name : NULL;
}

#define NAME_IN(thread, timer, real)                                                     \
	name_in(thread, timer, (const void *)(uintptr_t)(real),                          \
		__builtin_return_address(0))

EXPORT void Tau_start_timer(void *timer, int phase, int thread)
{
	__typeof__(&Tau_start_timer) real = CP_FORWARD(Tau_start_timer);
	bool outer = cp_self.within.tau;

	cp_self.within.tau = true;
	if (real)
		real(timer, phase, thread);
	cp_self.within.tau = outer;
	begin_timer(NAME_IN(thread, timer, real));
}

EXPORT void Tau_stop_timer(void *timer, int thread)
{
	__typeof__(&Tau_stop_timer) real = CP_FORWARD(Tau_stop_timer);
	bool outer = cp_self.within.tau;

	end_timer(NAME_IN(thread, timer, real));
	cp_self.within.tau = true;
	if (real)
		real(timer, thread);
	cp_self.within.tau = outer;
}
