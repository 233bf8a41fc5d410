/* SPDX-License-Identifier: MIT */
#include "tools/runs/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/table.h"
#include "regions/rundir.h"
#include "tools/runs/again.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/shared/outputs.h"

/* ---- before anything runs ---- */

static bool refuse_machine(const char *machine, const char *what)
{
	fprintf(stderr, "cachepeek: --confirm: machine %s predicts no time: %s%s\n",
		machine, what,
		strcmp(machine, "host") == 0
			? "; `cachepeek doctor --calibrate` measures this host"
			: "");
	return false;
}

bool cp_confirm_machine(struct cp_machine *machine, const char *name, const char *changes)
{
	char error[256], missing[160], what[200];

	if (cp_machine_find(
		    machine, name && *name ? name : "host", error, sizeof(error)) < 0 ||
		(changes && *changes &&
			cp_machine_change(machine, changes, error, sizeof(error)) < 0)) {
		fprintf(stderr, "cachepeek: --confirm: %s\n", error);
		return false;
	}
	if (!cp_machine_tells_time(machine, missing, sizeof(missing))) {
		snprintf(what, sizeof(what), "its file names no latency of %s", missing);
		return refuse_machine(machine->name, what);
	}
	return machine->clock_mhz ||
	       refuse_machine(machine->name, "its file names no clock-mhz");
}

/* ---- the runs ---- */

/* Nothing but what the comparison needs: each counter more is time of its own. */
static void choose_native(void)
{
	setenv("CACHEPEEK_ENGINE", "perf", 1);
	setenv("CACHEPEEK_EVENTS", "task_clock", 1);
	unsetenv("CACHEPEEK_GROUPS");
	unsetenv("CACHEPEEK_TIMING");
}

/* The time, and the parts that its interval is made of. */
static void choose_simulated(void)
{
	setenv("CACHEPEEK_ENGINE", "sim", 1);
	setenv("CACHEPEEK_GROUPS", "time", 1);
	unsetenv("CACHEPEEK_EVENTS");
	setenv("CACHEPEEK_TIMING", "on", 1);
}

/* Removes the variables that belong to other questions than this one. */
static void choose_neither(void)
{
	static const char *const others[] = {"CACHEPEEK_GROUPS", "CACHEPEEK_OUTPUT",
		"CACHEPEEK_SWEEP", "CACHEPEEK_WORKING_SET", "CACHEPEEK_SAMPLE",
		"CACHEPEEK_CALL_PATHS", "CACHEPEEK_REPRODUCIBLE", "CACHEPEEK_INTERVAL",
		"CACHEPEEK_PASS"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
}

/* Its records' values are those of the side.  False, after a message. */
static bool run_side(
	struct cp_confirmation *confirmation, unsigned side, long input, int *status)
{
	static const char *const whats[] = {"native run: ", "simulated run: "};
	char directory[CP_RUNDIR_SIZE], error[1024];
	struct cp_launch launch;
	int result = cp_launch_make_run(NULL, directory, sizeof(directory));

	if (result < 0) {
		fprintf(stderr, "cachepeek: no directory for the run: %s\n",
			strerror(-result));
		*status = 1 << 8;
		return false;
	}
	/* Both are seen: a program that writes nowhere does not do the same. */
	result = cp_run_again(
		&launch, directory, confirmation->argv, whats[side], input, true);
	if (result < 0) {
		*status = cp_cannot_run(confirmation->argv[0], -result) << 8;
		cp_run_remove(directory);
		return false;
	}
	*status = launch.status;
	if (cp_values_add(confirmation->values, side, directory, error, sizeof(error))) {
		cp_run_remove(directory);
		return true;
	}
	fprintf(stderr, "cachepeek: %s%s\n", whats[side], error);
	cp_run_remove(directory);
	return false;
}

static bool run_both(struct cp_confirmation *confirmation, int *status)
{
	long input = cp_keep_input();
	int other;

	choose_neither();
	choose_native();
	if (!run_side(confirmation, 0, input, status))
		return false;
	choose_simulated();
	if (!run_side(confirmation, 1, input, &other))
		return false;
	if (other != *status)
		fprintf(stderr,
			"cachepeek: the simulated run ended unlike the native one "
			"(status %#x, not %#x): it may have done something else\n",
			(unsigned)other, (unsigned)*status);
	return true;
}

static int confirm_outputs(struct cp_confirmation *confirmation, const char *list)
{
	const struct cp_document document = {confirmation, cp_confirm_text,
		cp_confirm_csv, cp_confirm_json, "confirm.html"};
	struct cp_output_list outputs = {0};
	int status = 0;

	if (!cp_output_add(&outputs, list ? list : "") ||
		!cp_outputs_check("run --confirm", &outputs))
		return 2;
	unsetenv("CACHEPEEK_DIR");
	confirmation->values = cp_values_new(confirmation->arena);
	if (!run_both(confirmation, &status))
		return status ? cp_end_like(status) : 1;
	cp_confirm_regions(confirmation);
	if (cp_outputs_write(&outputs, "stderr", &document))
		return 1;
	return cp_end_like(status);
}

int cp_confirm_run(const struct cp_machine *machine, const char *outputs, char **argv)
{
	static struct cp_confirmation confirmation;
	static struct cp_arena arena;
	struct cp_escape out_of_memory;
	volatile int status = 1;

	arena.out_of_memory = &out_of_memory;
	confirmation.arena = &arena;
	confirmation.argv = argv;
	confirmation.machine = machine;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		status = confirm_outputs(&confirmation, outputs);
	else
		fprintf(stderr, "cachepeek: --confirm: out of memory\n");
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}
