/* SPDX-License-Identifier: MIT */
#include "tools/diff/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "tools/diff/ranks.h"

/* ---- what is run ---- */

/* By the word that was typed, which may need the folder of that day; else by the file
 * that it was. */
static const char *program_of(const struct cp_side *side)
{
	const char *word = side->argv[0];

	if (!strchr(word, '/') || access(word, X_OK) == 0 || !side->exe ||
		access(side->exe, X_OK) < 0 ||
		strcmp(cp_base_name(side->exe), cp_base_name(word)) != 0)
		return word;
	return side->exe;
}

static bool is_same_command(const struct cp_side *one, const struct cp_side *other)
{
	size_t i = 0;

	while (one->argv[i] && other->argv[i] &&
		strcmp(one->argv[i], other->argv[i]) == 0)
		i++;
	return !one->argv[i] && !other->argv[i];
}

/* Why there is nothing to run; NULL: there is. */
static const char *why_not(const struct cp_diff *diff)
{
	const struct cp_side *sides = diff->values->sides;

	for (unsigned i = 0; i < 2; i++)
		if (!sides[i].argv || !sides[i].argv[0])
			return cp_text_format(diff->arena,
				"%s does not record the words of its command: "
				"write it again",
				cp_text_safe(diff->arena, cp_slice_of(sides[i].label)));
	if (is_same_command(&sides[0], &sides[1]))
		return cp_text_format(diff->arena,
			"both sides ran %s, which is one program now: keep both builds, "
			"each in a file of its own",
			sides[0].command);
	return NULL;
}

/* ---- one run ---- */

/* With nothing to read, and nobody to read what it writes. */
static int become(pid_t *child, const char *program, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return -error;
	for (int fd = STDIN_FILENO; !error && fd <= STDERR_FILENO; fd++)
		error = posix_spawn_file_actions_addopen(
			&actions, fd, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawnp(child, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

/* User and system time, and the status of wait(2); < 0: -errno. */
static double run_once(const char *program, char *const argv[], int *status)
{
	struct rusage usage;
	pid_t child = 0;
	int error = become(&child, program, argv);

	while (!error && wait4(child, status, 0, &usage) < 0)
		if (errno != EINTR)
			error = -errno;
	return error ? error : seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
}

/* As reports spell it. */
static const char *end_of(struct cp_arena *arena, int status)
{
	if (WIFEXITED(status))
		return cp_text_format(arena, "exit %d", WEXITSTATUS(status));
	return cp_text_format(arena, "signal %d", WTERMSIG(status));
}

/* false: timed->why says why not. */
static bool time_one(
	struct cp_diff *diff, struct cp_timed *timed, unsigned number, unsigned run)
{
	const struct cp_side *side = &diff->values->sides[number];
	int status = 0;
	double took = run_once(program_of(side), side->argv, &status);
	const char *end;

	if (took < 0) {
		timed->why = cp_text_format(diff->arena,
			"%s: %s: compare where the programs were run, and keep both",
			cp_text_safe(diff->arena, cp_slice_of(side->argv[0])),
			strerror(-(int)took));
		return false;
	}
	end = end_of(diff->arena, status);
	if (!timed->end[number])
		timed->end[number] = cp_starts_with(side->end, "exit ") ||
						     cp_starts_with(side->end, "signal ")
					     ? side->end
					     : end;
	if (strcmp(timed->end[number], end) != 0) {
		timed->why = cp_text_format(diff->arena,
			"%s ended with %s, and before with %s: compare where the "
			"programs were run",
			side->command, end, timed->end[number]);
		return false;
	}
	timed->seconds[number][run] = took;
	return true;
}

/* ---- all of them ---- */

static double least_of(const double *values, unsigned n)
{
	double least = values[0];

	for (unsigned i = 1; i < n; i++)
		least = values[i] < least ? values[i] : least;
	return least;
}

/* Starting any program takes so long here, which is noise of those that take little more.
 */
#define SHORT 5e-3
#define STARTS 2

static double time_start(unsigned runs)
{
	char *const nothing[] = {(char[]){"true"}, NULL};
	double took[CP_TIMED_MOST] = {0};
	int status;

	for (unsigned run = 0; run < runs; run++)
		took[run] = run_once(nothing[0], nothing, &status);
	return STARTS * least_of(took, runs);
}

/* Before, after, after, before, …: what drifts is on both sides. */
static bool time_all(struct cp_diff *diff, struct cp_timed *timed)
{
	double start;

	setenv("CACHEPEEK_DISABLE", "1", 1); /* the library may be preloaded */
	for (unsigned run = 0; run < timed->runs; run++)
		for (unsigned turn = 0; turn < 2; turn++)
			if (!time_one(diff, timed, (run + turn) % 2, run))
				return false;
	for (unsigned side = 0; side < 2; side++)
		timed->least[side] = least_of(timed->seconds[side], timed->runs);
	start = time_start(timed->runs);
	timed->shortest = start > SHORT ? start : SHORT;
	return true;
}

static int direction_of(double change)
{
	return (change > 0) - (change < 0);
}

static const struct cp_difference *prediction(const struct cp_diff *diff)
{
	const struct cp_difference *it =
		diff->cost ? cp_diff_of_run(diff, diff->cost->name) : NULL;

	return it && it->verdict != CP_ONE_SIDED ? it : NULL;
}

/* That nothing was found confirms no change only in a narrow interval, and refutes a
 * change only if that is not in it. */
#define NARROW 0.1

static bool is_noisy(const struct cp_timed *timed, int predicted, double ratio)
{
	if (!predicted)
		return timed->low < 1 - NARROW || timed->high > 1 + NARROW;
	return predicted < 0 ? timed->low <= ratio : timed->high >= ratio;
}

static enum cp_timed_verdict judge(
	const struct cp_diff *diff, const struct cp_timed *timed)
{
	const struct cp_difference *it = prediction(diff);
	int predicted, measured;

	if (timed->least[0] < timed->shortest && timed->least[1] < timed->shortest)
		return CP_TIMED_SHORT;
	if (!timed->tested)
		return CP_TIMED_FEW;
	if (!it)
		return CP_TIMED_UNPREDICTED;
	predicted = cp_diff_is_small(it) ? 0 : direction_of(it->change);
	measured = timed->p < CP_DIFF_LEVEL
			   ? direction_of(timed->least[1] - timed->least[0])
			   : 0;
	if (!measured && is_noisy(timed, predicted, it->ratio))
		return CP_TIMED_NOISY;
	return predicted == measured ? CP_TIMED_CONFIRMED : CP_TIMED_REFUTED;
}

void cp_timed_run(struct cp_diff *diff, struct cp_timed *timed)
{
	struct cp_ranks ranks;

	timed->verdict = CP_TIMED_NOT;
	timed->why = why_not(diff);
	if (timed->why || !time_all(diff, timed))
		return;
	timed->tested = timed->least[0] > 0 && timed->least[1] > 0 &&
			cp_ranks_test(timed->seconds[0], timed->runs, timed->seconds[1],
				timed->runs, &ranks);
	if (timed->tested) {
		timed->p = ranks.p;
		timed->low = ranks.low;
		timed->high = ranks.high;
	}
	timed->verdict = judge(diff, timed);
}

/* ---- what it says ---- */

const char *cp_timed_name(enum cp_timed_verdict verdict)
{
	static const char *const names[] = {"confirmed", "not confirmed",
		"too short to tell", "too noisy to tell", "too few runs to tell",
		"measured", "not timed"};

	return names[verdict];
}

/* How many times as long after takes, by the least of each; < 0: before takes no time. */
static double ratio_of(const struct cp_timed *timed)
{
	return timed->least[0] > 0 ? timed->least[1] / timed->least[0] : -1;
}

static const char *percent(struct cp_arena *arena, double ratio)
{
	return cp_text_format(
		arena, "%s%.1f %%", ratio > 1 ? "+" : "", 100 * (ratio - 1));
}

static const char *test_text(const struct cp_diff *diff, const struct cp_timed *timed)
{
	if (!timed->tested)
		return "";
	return cp_text_format(diff->arena, "; 95 %%: %s to %s, p %s",
		percent(diff->arena, timed->low), percent(diff->arena, timed->high),
		timed->p < 0.001 ? "<0.001"
				 : cp_text_format(diff->arena, "%.3f", timed->p));
}

/* Tells what was expected, where it is not what was found. */
static const char *prediction_text(
	const struct cp_diff *diff, const struct cp_timed *timed)
{
	const struct cp_difference *it = prediction(diff);

	if (timed->verdict == CP_TIMED_SHORT)
		return cp_text_format(diff->arena,
			"; runs of less than %s say more of their start",
			cp_text_seconds(diff->arena, timed->shortest));
	if (timed->verdict == CP_TIMED_FEW)
		return cp_text_format(diff->arena, "; it takes %d runs", CP_FEWEST_RUNS);
	if (timed->verdict == CP_TIMED_NOT || timed->verdict == CP_TIMED_UNPREDICTED)
		return "";
	return cp_text_format(diff->arena, "; predicted: %s",
		cp_diff_is_small(it) ? "no change" : cp_diff_change(diff->arena, it));
}

const char *cp_timed_text(const struct cp_diff *diff, const struct cp_timed *timed)
{
	double ratio = ratio_of(timed);

	if (timed->why)
		return timed->why;
	return cp_text_format(diff->arena,
		"measured CPU time %s to %s (%s, least of %u run%s each%s)%s",
		cp_text_seconds(diff->arena, timed->least[0]),
		cp_text_seconds(diff->arena, timed->least[1]),
		ratio < 0 ? "from 0" : percent(diff->arena, ratio), timed->runs,
		timed->runs == 1 ? "" : "s", test_text(diff, timed),
		prediction_text(diff, timed));
}

/* ---- JSON ---- */

static json_t *seconds_json(const struct cp_timed *timed, unsigned side)
{
	json_t *list = json_array();

	for (unsigned run = 0; run < timed->runs; run++)
		json_array_append_new(list, json_real(timed->seconds[side][run]));
	return list;
}

static json_t *known(bool there, double value)
{
	return there ? json_real(value) : json_null();
}

json_t *cp_timed_json(const struct cp_diff *diff, const struct cp_timed *timed)
{
	const struct cp_difference *it = prediction(diff);
	bool there = !timed->why;

	return json_pack("{sI ss ss s:s? so so so so so so so so so}", "runs",
		(json_int_t)timed->runs, "verdict", cp_timed_name(timed->verdict),
		"status", there ? "measured" : "unavailable", "reason", timed->why,
		"before", there ? seconds_json(timed, 0) : json_array(), "after",
		there ? seconds_json(timed, 1) : json_array(), "least_before",
		known(there, timed->least[0]), "least_after",
		known(there, timed->least[1]), "ratio",
		known(there && ratio_of(timed) >= 0, ratio_of(timed)), "p",
		known(timed->tested, timed->p), "low", known(timed->tested, timed->low),
		"high", known(timed->tested, timed->high), "predicted",
		known(it && it->ratio >= 0, it ? it->ratio : 0));
}
