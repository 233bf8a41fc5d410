/* SPDX-License-Identifier: MIT
 *
 * cachepeek run --confirm: the time that the timing model predicts, beside the time that
 * the program takes natively, region by region.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_CONFIRM_H
#define CACHEPEEK_TOOLS_RUNS_CONFIRM_H

#include "base/machine/machine.h"
#include "tools/diff/values.h"

#define CP_CONFIRM_SCHEMA "cachepeek-confirm/1"

/* A prediction further away than that explains the region badly. */
#define CP_CONFIRM_FACTOR 1.5
/* Regions that take less, in all or a call, are mostly the clock's and the marker's time.
 */
#define CP_CONFIRM_LEAST 1e-3
#define CP_CONFIRM_LEAST_CALL 20e-6

enum cp_confirmed {
	CP_WELL,
	CP_BADLY,
	CP_TOO_SHORT,  /* natively, to be judged */
	CP_OTHER_WORK, /* the two runs did not call it equally often */
	CP_NOT_TOLD,   /* one of the two times is not there */
	CP_NCONFIRMED
};

/* A region: seconds and where they come from. */
struct cp_confirm {
	const struct cp_spot *spot;
	double calls; /* < 0: not told, of the whole run */
	bool has_native, has_predicted;
	bool of_cpu; /* native is CPU time; else wall time */
	double native, predicted;
	double off; /* half-width of the prediction's interval; < 0: none */
	const char *native_reason, *predicted_reason; /* why not, or NULL */
	enum cp_confirmed verdict;
};

struct cp_confirmation {
	struct cp_arena *arena;
	struct cp_values *values; /* side 0 native, side 1 predicted */
	char **argv;
	const struct cp_machine *machine;
	size_t count;
	struct cp_confirm *regions;
	const char *model; /* "timing model of machine skylake-sp" */
};

/* Runs argv twice, with the library preloaded and the environment as it is but for what
 * is counted.  outputs: as of cp_repeat(); directory that keeps the records, or NULL.
 * Returns the exit status: the native run's. */
int cp_confirm_run(const struct cp_machine *machine, const char *outputs, char **argv);

/* Finds the machine, which has to tell time.  False, after a message. */
bool cp_confirm_machine(
	struct cp_machine *machine, const char *name, const char *changes);

/* confirm_regions.c: fills in the regions. */
void cp_confirm_regions(struct cp_confirmation *confirmation);
const char *cp_confirmed_name(enum cp_confirmed verdict);

/* confirm_show.c, for struct cp_document. */
void cp_confirm_text(const void *of, struct cp_out *out, bool colour);
void cp_confirm_csv(const void *of, struct cp_out *out);
json_t *cp_confirm_json(const void *of);

#endif
