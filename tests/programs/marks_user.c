/* SPDX-License-Identifier: MIT
 *	marks_user [killed]
 * Marks itself for Score-P, TAU, Extrae and PerfStubs, as far as the functions of
 * each are there: written from their published interfaces.
 * killed: instead, has its data dumped after 100 pages, and dies of SIGKILL.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "fresh.h"

static void *function(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		printf("no %s\n", name);
	return found;
}

/* Declares the function of that name and finds it, or leaves. */
#define FIND(result, name, ...)                                                          \
	result (*name)(__VA_ARGS__) = function(#name);                                   \
	if (!name)                                                                       \
	return

static void score_p(void)
{
	FIND(void, SCOREP_User_RegionBegin, void **, const char **, uint32_t *,
		const char *, uint32_t, const char *, uint32_t);
	FIND(void, SCOREP_User_RegionInit, void **, const char **, uint32_t *,
		const char *, uint32_t, const char *, uint32_t);
	FIND(void, SCOREP_User_RegionEnter, void *);
	FIND(void, SCOREP_User_RegionEnd, void *);
	FIND(void, SCOREP_User_RegionByNameBegin, const char *, uint32_t, const char *,
		uint32_t);
	FIND(void, SCOREP_User_RegionByNameEnd, const char *);
	const char *file = NULL;
	uint32_t last = 0;
	void *solve = NULL, *step = NULL;

	for (int i = 0; i < 3; i++) {
		SCOREP_User_RegionBegin(
			&solve, &file, &last, "solve", 0, __FILE__, __LINE__);
		SCOREP_User_RegionInit(
			&step, &file, &last, "step", 0, __FILE__, __LINE__);
		SCOREP_User_RegionEnter(step);
		SCOREP_User_RegionByNameBegin("by name", 0, "", 0);
		SCOREP_User_RegionByNameEnd("by name");
		SCOREP_User_RegionEnd(step);
		SCOREP_User_RegionEnd(solve);
	}
}

static void tau(void)
{
	FIND(void, Tau_start, const char *);
	FIND(void, Tau_stop, const char *);
	FIND(void, Tau_profile_c_timer, void **, const char *, const char *, uint64_t,
		const char *);
	FIND(void, Tau_lite_start_timer, void *, int);
	FIND(void, Tau_lite_stop_timer, void *);
	void *timer = NULL;

	Tau_start("tau");
	Tau_profile_c_timer(&timer, "timer", "int ()", 1, "USER");
	for (int i = 0; i < 2; i++) {
		Tau_lite_start_timer(timer, 0);
		Tau_lite_stop_timer(timer);
	}
	Tau_start("tau");
	Tau_stop("tau");
	Tau_start("after");
	Tau_stop("after");
	Tau_stop("tau");
}

static void extrae(void)
{
	FIND(void, Extrae_event, unsigned, unsigned long long);
	FIND(void, Extrae_eventandcounters, unsigned, unsigned long long);
	FIND(void, Extrae_nevent, unsigned, unsigned *, unsigned long long *);
	FIND(void, Extrae_neventandcounters, unsigned, unsigned *, unsigned long long *);
	FIND(void, Extrae_define_event_type, unsigned *, char *, unsigned *,
		unsigned long long *, char **);
	unsigned types[] = {1000, 2000}, two = 2;
	unsigned long long values[] = {0, 7}, begin[] = {7, 5}, end[] = {0, 0};
	char *names[] = {"End", "Seven"};

	Extrae_define_event_type(types, "Phase", &two, values, names);
	Extrae_event(1000, 7);
	Extrae_event(1000, 8); /* in place of 7 */
	Extrae_eventandcounters(1000, 0);
	Extrae_nevent(2, types, begin);
	Extrae_neventandcounters(2, types, end);
}

static void perfstubs(void)
{
	FIND(void, ps_tool_initialize, void);
	FIND(void *, ps_tool_timer_create, const char *);
	FIND(void, ps_tool_timer_start, void *);
	FIND(void, ps_tool_timer_stop, void *);
	FIND(void, ps_tool_start_string, const char *);
	FIND(void, ps_tool_stop_string, const char *);
	FIND(void, ps_tool_stop_current, void);
	FIND(void, ps_tool_pause_measurement, void);
	FIND(void, ps_tool_resume_measurement, void);
	FIND(void, ps_tool_dynamic_phase_start, const char *, int);
	FIND(void, ps_tool_dynamic_phase_stop, const char *, int);
	volatile char *memory = fresh(2 * PAGE);
	void *timer;

	ps_tool_initialize();
	timer = ps_tool_timer_create("ps");
	ps_tool_timer_start(timer);
	for (int i = 0; i < 2; i++) {
		ps_tool_dynamic_phase_start("iteration", i);
		ps_tool_start_string("string");
		ps_tool_stop_string("string");
		ps_tool_start_string("current");
		ps_tool_stop_current();
		ps_tool_start_string("after");
		ps_tool_stop_string("after");
		ps_tool_dynamic_phase_stop("iteration", i);
	}
	ps_tool_start_string("paused");
	store_each(memory, 1, PAGE);
	ps_tool_pause_measurement();
	store_each(memory, 2, PAGE);
	ps_tool_resume_measurement();
	ps_tool_stop_string("paused");
	ps_tool_timer_stop(timer);
}

static void dump_and_die(void)
{
	FIND(void, ps_tool_dump_data, void);

	store_each(fresh(100 * PAGE), 100, PAGE);
	ps_tool_dump_data();
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		dump_and_die();
	score_p();
	tau();
	extrae();
	perfstubs();
	return 0;
}
