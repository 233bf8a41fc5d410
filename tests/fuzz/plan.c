/* SPDX-License-Identifier: MIT
 *
 * A plan's file that is damaged: what is taken of it can be described and turned into
 * options.  The bytes stand behind what says whose the file is, and the file goes on
 * with zeros, so that most of them are read to the end.
 */
#include "base/counters/plan.c"

#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"

enum { KEY = 1, ZEROS = 1 << 20 };

static int open_file(const uint8_t *data, size_t size)
{
	static struct cp_plan none;
	int fd = memfd_create("plan", MFD_CLOEXEC);
	off_t begin = offsetof(struct head, nmachines);

	if (fd < 0 || cp_plan_write(&none, KEY, fd) < 0 ||
		pwrite(fd, data, size, begin) != (ssize_t)size ||
		ftruncate(fd, begin + (off_t)size + ZEROS) < 0)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void use_machine(const struct cp_machine *machine)
{
	char text[1024];

	cp_machine_describe(machine, text, sizeof(text));
	for (unsigned level = 0; level < CP_NLEVELS; level++) {
		cp_machine_option(machine, (enum cp_level)level, text, CP_MACHINE_OPTION);
		fuzz_read(cp_machine_unlike_plain(machine, (enum cp_level)level));
	}
	cp_machine_timing_option(machine, text, sizeof(text));
	cp_machine_sockets_option(machine, text, sizeof(text));
	cp_machine_tells_time(machine, text, sizeof(text));
	fuzz_read(machine->events);
	fuzz_read(machine->pmu);
}

static void use_set(const struct cp_event_set *set)
{
	for (unsigned i = 0; i < set->ncounters; i++) {
		fuzz_read(set->counters[i].name);
		if (set->counters[i].group >= CP_MAX_PERF_GROUPS)
			abort();
	}
	for (unsigned i = 0; i < set->nquantities; i++) {
		fuzz_read(set->quantities[i].name);
		fuzz_read(set->quantities[i].why.text);
		for (unsigned t = 0; t < set->quantities[i].nterms; t++)
			fuzz_read(
				set->counters[set->quantities[i].terms[t].counter].name);
	}
}

static void use(const struct cp_plan *plan)
{
	char text[CP_SWEEP_OPTION + CP_WEIGHTS_TEXT];
	const char *piece;

	for (unsigned i = 0; i < plan->nmachines; i++)
		use_machine(&plan->machine[i]);
	use_set(&plan->set);
	cp_weights_print(&plan->weights, text, sizeof(text));
	cp_sweep_option(&plan->sweep, text, CP_SWEEP_OPTION);
	cp_sweep_describe(&plan->sweep, &plan->machine[0], text, sizeof(text));
	cp_sample_option(&plan->sample, 1, text, CP_SAMPLE_OPTION);
	cp_sample_describe(&plan->sample, text, sizeof(text));
	for (size_t at = 0; (piece = cp_plan_next_text(plan, CP_PLAN_SAID, &at));)
		fuzz_read(piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cp_plan plan;
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;
	int fd = open_file(data, size);

	arena.out_of_memory = &out_of_memory;
	memset(&plan, 0, sizeof(plan));
	if (CP_ESCAPE_SET(out_of_memory) == 0 &&
		cp_plan_read(&plan, KEY, fd, &arena) == 0)
		use(&plan);
	cp_arena_free(&arena);
	close(fd);
	return 0;
}
