/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulated.h"
#include "flex/flex.h"
#include "mirror.h"
#include "sample/sample.h"
#include "stop.h"

void simulated_no_memory(const HChar *what)
{
	stop(1, "no memory to simulate %s", what);
}

struct core *simulated_core(const struct machine *m, struct uncore *u)
{
	struct core *core = core_new(m, u);

	if (!core)
		simulated_no_memory("another core");
	return core;
}

/* The first of those that the fewest threads use. */
static struct seat *find_seat(const struct simulated *s)
{
	struct seat *best = &s->seats[0];

	for (UInt i = 1; i < s->machine->cores && best->threads; i++)
		if (s->seats[i].threads < best->threads)
			best = &s->seats[i];
	return best;
}

/* A sweep is of the first machine. */
struct seat *simulated_seat(struct simulated *s)
{
	struct seat *seat = find_seat(s);

	seat->threads++;
	if (!seat->core) {
		seat->core = simulated_core(s->machine, &s->uncore);
		if (seat->core->flex)
			seat->core->flex->number = s->number;
		if (s->index == 0 && tool_options.sweep.npoints &&
			sweep_begin(seat->core, &tool_options.sweep, s->machine) < 0)
			simulated_no_memory("the sizes of a sweep");
		core_attach(seat->core);
		if (sample_wanted())
			sample_core_begin(seat->core);
	}
	return seat;
}

void simulated_show(struct simulated *s)
{
	mirror_write(s->mirror, s->count);
	sample_copy_machine(s->index, s->sample_mirror);
}

void simulated_start(struct simulated *s, UInt index)
{
	static UInt behind_front;

	s->index = index;
	s->machine = &tool_options.machines[index];
	if (!machine_is_plain(s->machine))
		s->number = behind_front++;
	s->seats = VG_(calloc)("cachepeek.seats", s->machine->cores, sizeof(*s->seats));
	if (uncore_init(&s->uncore, s->machine) != 0)
		simulated_no_memory("the last level");
}
