/* SPDX-License-Identifier: MIT
 * Plays Score-P, TAU, Extrae and PerfStubs: says each call that it gets, with what
 * came along.
 */
#include <stdint.h>
#include <stdio.h>

#define SAY(...) fprintf(stderr, "tool: " __VA_ARGS__)

static int handle;

/* As the real one, it makes what it needs through its own interface. */
void SCOREP_User_RegionInit(void **to, const char **last_name, uint32_t *last,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	(void)last_name, (void)last, (void)type, (void)file, (void)line;
	SAY("init %s\n", name);
	*to = (char *)&handle + name[1];
}
void SCOREP_User_RegionEnter(void *region)
{
	SAY("enter %d\n", (int)((char *)region - (char *)&handle));
}
void SCOREP_User_RegionBegin(void **to, const char **last_name, uint32_t *last,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	if (!*to)
		SCOREP_User_RegionInit(to, last_name, last, name, type, file, line);
	SCOREP_User_RegionEnter(*to);
}
void SCOREP_User_RegionEnd(void *region)
{
	SAY("end %d\n", (int)((char *)region - (char *)&handle));
}
void SCOREP_User_RegionByNameBegin(
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	void *region = NULL;

	SCOREP_User_RegionBegin(&region, NULL, NULL, name, type, file, line);
}
void SCOREP_User_RegionByNameEnd(const char *name)
{
	SCOREP_User_RegionEnd((char *)&handle + name[1]);
}

void Tau_lite_start_timer(void *timer, int phase)
{
	SAY("start timer %s %d\n", (const char *)timer, phase);
}
void Tau_lite_stop_timer(void *timer)
{
	SAY("stop timer %s\n", (const char *)timer);
}
void Tau_profile_c_timer(void **timer, const char *name, const char *type, uint64_t group,
	const char *group_name)
{
	SAY("timer %s %s %d %s\n", name, type, (int)group, group_name);
	*timer = (void *)(uintptr_t)name;
}
void Tau_start(const char *name)
{
	void *timer;

	Tau_profile_c_timer(&timer, name, "", 0, "");
	Tau_lite_start_timer(timer, 0);
}
void Tau_stop(const char *name)
{
	Tau_lite_stop_timer((void *)(uintptr_t)name);
}

void Extrae_event(unsigned type, unsigned long long value)
{
	SAY("event %u %llu\n", type, value);
}
void Extrae_eventandcounters(unsigned type, unsigned long long value)
{
	SAY("event and counters %u %llu\n", type, value);
}
void Extrae_nevent(unsigned count, unsigned *types, unsigned long long *values)
{
	SAY("%u events %u %llu\n", count, types[0], values[0]);
}
void Extrae_neventandcounters(unsigned count, unsigned *types, unsigned long long *values)
{
	SAY("%u events and counters %u %llu\n", count, types[0], values[0]);
}
void Extrae_define_event_type(unsigned *type, char *description, unsigned *count,
	unsigned long long *values, char **descriptions)
{
	SAY("type %u %s %u %llu %s\n", *type, description, *count, values[1],
		descriptions[1]);
}

void ps_tool_initialize(void)
{
	SAY("initialize\n");
}
void *ps_tool_timer_create(const char *name)
{
	SAY("create %s\n", name);
	return (void *)(uintptr_t)name;
}
void ps_tool_timer_start(void *timer)
{
	SAY("start %s\n", (const char *)timer);
}
void ps_tool_timer_stop(void *timer)
{
	SAY("stop %s\n", (const char *)timer);
}
void ps_tool_start_string(const char *name)
{
	SAY("start string %s\n", name);
}
void ps_tool_stop_string(const char *name)
{
	SAY("stop string %s\n", name);
}
void ps_tool_pause_measurement(void)
{
	SAY("pause\n");
}
void ps_tool_resume_measurement(void)
{
	SAY("resume\n");
}
void ps_tool_dump_data(void)
{
	SAY("dump\n");
}
void ps_tool_stop_current(void)
{
	SAY("stop current\n");
}
void ps_tool_dynamic_phase_start(const char *name, int index)
{
	SAY("phase %s %d\n", name, index);
}
void ps_tool_dynamic_phase_stop(const char *name, int index)
{
	SAY("end of phase %s %d\n", name, index);
}
