/* SPDX-License-Identifier: MIT
 *
 * The results of cachepeek doctor --calibrate from its measurements: one figure of
 * several rounds, steps of curves, the machine file, and who uses that.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine/host.h"
#include "base/machine/spreads.h"
#include "base/env.h"
#include "base/format.h"
#include "tests/tap/tap.h"
#include "tools/calibrate/calibrate.h"

enum { ROUNDS = 5 };

#define COUNT(curve) (sizeof(curve) / sizeof((curve)[0]))

static void test_steps(void)
{
	static const double clean[] = {0, 0, 0, 7, 7, 7}, noisy[] = {0, 9, 0, 1, 7, 6, 7},
			    flat[] = {0, 1, 0, 1}, early[] = {7, 7, 7},
			    last[] = {0, 0, 7}, torn[] = {0, 9, 9, 0, 0, 0, 7, 7, 1, 7};

	is_u64(cp_curve_step(clean, COUNT(clean), 0, 7), 2,
		"the last point below a step");
	is_u64(cp_curve_step(noisy, COUNT(noisy), 0, 7), 3, "one high point is no step");
	is_u64(cp_curve_step(torn, COUNT(torn), 0, 7), 5,
		"nor are two, and a low one ends none");
	is_u64(cp_curve_step(flat, COUNT(flat), 0, 7), COUNT(flat), "no step");
	is_u64(cp_curve_step(early, COUNT(early), 0, 7), 0, "high from the start");
	is_u64(cp_curve_step(last, COUNT(last), 0, 7), 1, "a step at the end");
}

#define STEP 0.1 /* of the curves, as a share */

/* A round, and the half that it is of. */
static void set_round(struct cp_calibration *calibration, unsigned i,
	enum cp_figure figure, double value)
{
	struct cp_round *rounds[] = {&calibration->round[i], &calibration->half[i % 2]};

	for (unsigned k = 0; k < 2; k++) {
		double high = figure == CP_FIGURE_CLOCK ? value : value * (1 + STEP);

		cp_found_between(rounds[k], figure, value, NAN, NAN);
		if (cp_figure_has_grid(figure))
			cp_found_between(rounds[k], figure, value, value, high);
	}
}

static struct cp_calibration made(void)
{
	struct cp_calibration calibration = {.rounds = ROUNDS};

	(void)cp_machine_sizes(&calibration.machine);
	calibration.sized = true;
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
			set_round(&calibration, i, (enum cp_figure)figure,
				figure == CP_FIGURE_WALKERS ? 4 : 10 + figure);
	return calibration;
}

static void set_rounds(struct cp_calibration *calibration, enum cp_figure figure,
	const double rounds[ROUNDS])
{
	for (unsigned i = 0; i < ROUNDS; i++)
		set_round(calibration, i, figure, rounds[i]);
}

static void test_rounds(void)
{
	static const double some[] = {130, 100, 110, 104, 400},
			    few[] = {NAN, 5, NAN, 6, NAN}, most[] = {NAN, 5, 7, 6, NAN};
	struct cp_calibration all = made();

	set_rounds(&all, CP_FIGURE_LLC, some);
	set_rounds(&all, CP_FIGURE_WIDTH, some);
	set_rounds(&all, CP_FIGURE_STLB_HIT, some);
	set_rounds(&all, CP_FIGURE_WINDOW, few);
	set_rounds(&all, CP_FIGURE_TRANSFER, most);
	cp_calibration_conclude(&all);
	is_double_near(all.value[CP_FIGURE_LLC], 104, 0, "of times the least but one");
	is_double_near(
		all.spread[CP_FIGURE_LLC], 6 / 104.0, 1e-9, "and how far the middle is");
	ok(cp_figure_is_stable(&all, CP_FIGURE_LLC), "which is near enough");
	is_double_near(all.value[CP_FIGURE_WIDTH], 130, 0, "of rates the most but one");
	is_double_near(all.spread[CP_FIGURE_WIDTH], 270 / 130.0, 1e-9,
		"and how far the most is");
	ok(!cp_figure_is_stable(&all, CP_FIGURE_WIDTH), "which is far from it");
	is_double_near(all.value[CP_FIGURE_STLB_HIT], 400, 0, "of curves the last");
	is_double_near(all.spread[CP_FIGURE_STLB_HIT], 296 / 400.0, 1e-9,
		"and those of the second half");
	ok(isnan(all.value[CP_FIGURE_WINDOW]), "two rounds of five are none");
	ok(!cp_figure_is_stable(&all, CP_FIGURE_WINDOW), "and that is not stable");
	is_double_near(all.value[CP_FIGURE_TRANSFER], 5, 0, "three are");
	is_u64(cp_confirmed(3), 0, "none of which confirms the best");
	is_u64(cp_confirmed(4), 1, "as of four one does");
}

/* All rounds alike: what a curve tells is still somewhere between two points, and some
 * figures are as far off as calibrations are apart. */
static void test_grids(void)
{
	static const double apart[CP_NFIGURES] = {[CP_FIGURE_WALK] = 0.1,
		[CP_FIGURE_WALKERS] = 0.1,
		[CP_FIGURE_TRANSFER] = 0.1,
		[CP_FIGURE_LLC] = 0.05,
		[CP_FIGURE_STREAM_LLC] = 0.05,
		[CP_FIGURE_LONE_LINE] = 0.05,
		[CP_FIGURE_LLC_SET] = 0.2,
		[CP_FIGURE_PARALLEL] = 0.05,
		[CP_FIGURE_PARALLEL_FAR] = 0.05};
	struct cp_calibration all = made();
	unsigned grids = 0;

	cp_calibration_conclude(&all);
	for (unsigned i = 0; i < CP_NFIGURES; i++) {
		enum cp_figure figure = (enum cp_figure)i;
		bool grid = cp_figure_has_grid(figure) && figure != CP_FIGURE_CLOCK;

		grids += grid;
		is_double_near(all.spread[i], grid ? STEP : apart[i], 1e-9,
			"%s: rounds that are alike", cp_figure_name(figure));
	}
	is_u64(grids, 5, "figures of a curve");
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
			all.round[i].low[figure] = all.round[i].high[figure] = NAN;
	cp_calibration_conclude(&all);
	for (unsigned i = 0; i < CP_NFIGURES; i++)
		ok(cp_figure_is_stable(&all, (enum cp_figure)i) ==
				!cp_figure_has_grid((enum cp_figure)i),
			"%s: its points have to be said",
			cp_figure_name((enum cp_figure)i));
}

/* A time that was measured in moments of another clock is off by as much. */
static void test_clock(void)
{
	struct cp_calibration all = made();

	for (unsigned i = 0; i < ROUNDS; i++)
		cp_found_between(&all.round[i], CP_FIGURE_CLOCK, 3000, 2850, 3030);
	set_rounds(&all, CP_FIGURE_L1, (const double[]){5, 5, 6, 6, 6});
	cp_calibration_conclude(&all);
	is_double_near(all.value[CP_FIGURE_CLOCK], 3000, 0, "the clock of all rounds");
	is_double_near(all.spread[CP_FIGURE_CLOCK], 0.05, 1e-9, "but not of all moments");
	is_double_near(all.spread[CP_FIGURE_L2], 0.05, 1e-9, "nor are cycles");
	is_double_near(all.spread[CP_FIGURE_L1], 0.2, 1e-9, "that were further apart");
	is_double_near(
		all.spread[CP_FIGURE_DTLB], STEP, 1e-9, "and pages are as they were");
}

/* The last rounds rest on the same times: by those of every other round it may be
 * another value. */
static void test_halves(void)
{
	struct cp_calibration all = made();

	set_rounds(&all, CP_FIGURE_STLB_HIT, (const double[]){8, 8, 8, 8, 8});
	all.half[1].value[CP_FIGURE_STLB_HIT] = 7;
	all.half[0].value[CP_FIGURE_PARALLEL] = NAN;
	cp_calibration_conclude(&all);
	is_double_near(all.spread[CP_FIGURE_STLB_HIT], 1 / 8.0, 1e-9, "a half's");
	is_double_near(all.spread[CP_FIGURE_PARALLEL], 1, 1e-9, "one that says nothing");
}

/* The file of what made() has, with some figures that are far apart. */
static char *text_of(struct cp_calibration *all)
{
	static const double apart[] = {300, 200, 900, 250, 400};

	*all = made();
	set_rounds(all, CP_FIGURE_MEMORY, apart);
	set_rounds(all, CP_FIGURE_DTLB, (const double[]){64, 64, 72, 64, 64});
	set_rounds(all, CP_FIGURE_STLB, (const double[]){1536, 1536, 1536, 1536, 1536});
	cp_calibration_conclude(all);
	return cp_calibration_text(all, "2026-11-25");
}

/* Whole sets of it, also where a way of all sets together is no whole KB. */
static void test_last_level(unsigned ways)
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	uint64_t way = (uint64_t)ways * 64, least = 1024u * (10 + CP_FIGURE_ROOM);
	const struct cp_cache *llc = &machine.level[CP_LLC];
	char *text, error[200] = "";

	all.machine.level[CP_LLC] =
		(struct cp_cache){.sets = 4096, .ways = ways, .line = 64};
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0,
		"%u ways: the file is a machine's", ways);
	is_string(error, "", "without an error");
	ok(llc->sets * way <= least && (llc->sets + 1) * way > least,
		"the last level is what a CPU gets of it");
	is_u64(llc->ways, ways, "in so many ways");
	free(text);
}

/* The bytes of the last level in the file, of 4 MiB, by such rounds. */
static uint64_t last_level_by(const double rounds[ROUNDS])
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "";

	all.machine.level[CP_LLC] =
		(struct cp_cache){.sets = 4096, .ways = 16, .line = 64};
	set_rounds(&all, CP_FIGURE_ROOM, rounds);
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		error);
	ok((strstr(text, "# What a CPU gets of llc is not known") != NULL) ==
			isnan(rounds[0]),
		"the file says whether it is known");
	ok((machine.assumed >> CP_ASSUMED_LLC_SIZE & 1) == isnan(rounds[0]),
		"and assumes it if not");
	free(text);
	return (uint64_t)machine.level[CP_LLC].sets * 16 * 64;
}

/* Rounds are further apart than what is stable: it is still less than all, or not. */
static void test_room(void)
{
	is_u64(last_level_by((const double[]){1500, 1500, 1500, 2000, 2600}), 2600 * 1024,
		"a part, whatever it is");
	is_u64(last_level_by((const double[]){1500, 1500, 1500, 2000, 3000}), 4096 * 1024,
		"that may be all");
	is_u64(last_level_by((const double[]){4000, 4000, 4000, 4000, 4000}), 4096 * 1024,
		"all is between two points");
	is_u64(last_level_by((const double[]){NAN, NAN, NAN, NAN, NAN}), 4096 * 1024,
		"nobody knows");
}

static void test_text(void)
{
	struct cp_calibration all;
	struct cp_machine machine = cp_machine_defaults;
	char *text = text_of(&all), error[200] = "", word[sizeof(machine.host)];

	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0,
		"the file is a machine's");
	is_string(error, "", "without an error");
	is_u64(machine.clock_mhz, 10 + CP_FIGURE_CLOCK, "clock-mhz");
	is_u64(machine.level[CP_L1D].latency, 10 + CP_FIGURE_L1, "latency of L1D");
	is_u64(machine.walk_latency, 10 + CP_FIGURE_WALK, "walk-latency");
	is_u64(machine.fill_buffers, 10 + CP_FIGURE_PARALLEL, "fill-buffers");
	is_u64(machine.cache_to_cache_latency, 10 + CP_FIGURE_TRANSFER, "cache-to-cache");
	is_u64(machine.memory_latency, 400, "memory-latency");
	is_u64(machine.assumed,
		1u << CP_OF_MEMORY | 1u << CP_ASSUMED_WRITE_BUFFERS |
			1u << CP_ASSUMED_DISTANCE,
		"which is assumed, as is what is not measured");
	is_u64(machine.spread[CP_OF_MEMORY], 125 + 1, "and off by its spread");
	is_u64(machine.level[CP_DTLB].sets * machine.level[CP_DTLB].ways, 64, "the DTLB");
	is_u64(machine.level[CP_STLB].sets, 256, "the STLB's sets");
	is_u64(machine.level[CP_STLB].ways, 6, "and ways");
	is_string(machine.measured, "2026-11-25", "when it was measured");
	cp_host_word(&all.machine, word, sizeof(word));
	is_string(machine.host, word, "and where");
	ok(machine.level[CP_L2].sets == all.machine.level[CP_L2].sets &&
			machine.level[CP_LLC].ways == all.machine.level[CP_LLC].ways,
		"sizes are sysfs's");
	free(text);
}

/* A figure that is not stable is said, and called assumed. */
static void test_unstable(void)
{
	static const double apart[] = {30, 15, 90, 25, 40};
	static const enum cp_figure figures[] = {CP_FIGURE_WALK, CP_FIGURE_STLB_HIT,
		CP_FIGURE_WINDOW, CP_FIGURE_PARALLEL, CP_FIGURE_TRANSFER};
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "", keys[200];

	for (unsigned i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		set_rounds(&all, figures[i], apart);
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0,
		"unstable: %s", error);
	is_u64(machine.walk_latency, 40, "walk-latency");
	is_u64(machine.level[CP_STLB].latency, 40, "the STLB's");
	is_u64(machine.ooo.window, 40, "the window");
	is_u64(machine.fill_buffers, 40, "fill-buffers");
	is_u64(machine.cache_to_cache_latency, 25, "a transfer, as");
	cp_machine_assumed_keys(&machine, keys, sizeof(keys));
	is_string(keys,
		"cache-to-cache-latency, stlb, walk-latency, fill-buffers, write-buffers, "
		"window, prefetch-distance",
		"these are assumed");
	ok(strstr(text, "\nwalk-latency = 40  # measured, spread 125 %: not stable\n"),
		"and why: %s", text);
	free(text);
}

/* The model of time needs some that could not be measured: common ones. */
static void test_unknown(void)
{
	static const double none[] = {NAN, NAN, NAN, NAN, NAN};
	static const enum cp_figure figures[] = {CP_FIGURE_WIDTH, CP_FIGURE_WINDOW,
		CP_FIGURE_MISPREDICT, CP_FIGURE_WALK, CP_FIGURE_STREAM_LLC,
		CP_FIGURE_PREFETCH};
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "", keys[200];

	for (unsigned i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		set_rounds(&all, figures[i], none);
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0,
		"unknown: %s", error);
	is_u64(machine.ooo.width, 400, "width");
	is_u64(machine.ooo.window, 224, "window");
	is_u64(machine.ooo.mispredict, 16, "mispredict-latency");
	is_u64(machine.ooo.llc_line, 0, "no llc-cycles-per-line");
	is_u64(machine.ooo.distance, 0, "no prefetch-distance");
	cp_machine_assumed_keys(&machine, keys, sizeof(keys));
	is_string(keys, "walk-latency, write-buffers, width, window, mispredict-latency",
		"these are assumed");
	ok(strstr(text, "\nwindow = 224  # assumed: it could not be measured\n"),
		"as the line says: %s", text);
	free(text);
}

/* A report's line has no room for all of them: those left out are counted. */
static void test_all_assumed(void)
{
	static const size_t sizes[] = {64, 128, 600};
	struct cp_machine machine = {.assumed = (1ull << CP_NASSUMED) - 1};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char keys[600];
		const char *more;
		unsigned named = 1, left;

		cp_machine_assumed_keys(&machine, keys, sizes[i]);
		for (const char *at = keys; (at = strchr(at, ',')); at++)
			named++;
		more = strstr(keys, " and ");
		left = more ? (unsigned)strtoul(more + strlen(" and "), NULL, 10) : 0;
		is_u64(named + left, CP_NASSUMED, "in %zu bytes: %s", sizes[i], keys);
		ok(!more || strcmp(keys + strlen(keys) - 5, " more") == 0, "whole");
		ok((sizes[i] == 600) == !more, "what there is no room for is counted");
	}
}

/* All of what the model of time knows. */
static void test_out_of_order(void)
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	struct cp_spreads spreads;
	char *text, error[200] = "";

	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		error);
	ok(machine.ooo.on, "out of order");
	is_u64(machine.ooo.width, 100 * (10 + CP_FIGURE_WIDTH), "its width");
	is_u64(machine.ooo.window, 10 + CP_FIGURE_WINDOW, "window");
	is_u64(machine.ooo.mispredict, 10 + CP_FIGURE_MISPREDICT, "branches");
	is_u64(machine.ooo.loads, 100 * (10 + CP_FIGURE_LOADS), "loads");
	is_u64(machine.ooo.stores, 100 * (10 + CP_FIGURE_STORES), "stores");
	is_u64(machine.ooo.l2_fill_buffers, 10 + CP_FIGURE_PARALLEL_FAR, "L2's misses");
	is_u64(machine.ooo.walkers, 4, "walkers");
	is_u64(machine.ooo.l2_line, 100 * (10 + CP_FIGURE_STREAM_L2), "L2's lines");
	is_u64(machine.ooo.llc_line, 100 * (10 + CP_FIGURE_STREAM_LLC), "L3's");
	is_u64(machine.ooo.memory_line, 100 * (10 + CP_FIGURE_STREAM_MEMORY), "memory's");
	is_u64(machine.ooo.distance, 20, "how far ahead lines are fetched");
	is_u64(machine.ooo.near, 10 + CP_FIGURE_NEAR, "what they take then");
	is_u64(machine.ooo.stay, 10 + CP_FIGURE_STAY, "how long lines stay");
	is_u64(machine.ooo.float_add, 10 + CP_FIGURE_FLOAT_ADD, "additions");
	is_u64(machine.ooo.float_multiply, 10 + CP_FIGURE_FLOAT_MULTIPLY,
		"multiplications");
	is_u64(machine.ooo.store_line, 100 * (10 + CP_FIGURE_STORE_LINE), "stored lines");
	is_u64(machine.ooo.lone_line, 100 * (10 + CP_FIGURE_LONE_LINE), "of no stream");
	is_u64(machine.ooo.set_line, 100 * (10 + CP_FIGURE_SET_LINE), "of one set");
	is_u64(machine.ooo.load_set_line, 100 * (10 + CP_FIGURE_SAME_SET),
		"loaded lines of one set");
	is_u64(machine.ooo.llc_set_line, 100 * (10 + CP_FIGURE_LLC_SET),
		"those of the last level");
	is_u64(machine.ooo.banks, 10 + CP_FIGURE_BANKS, "banks");
	is_u64(machine.assumed,
		1u << CP_ASSUMED_WRITE_BUFFERS | 1u << CP_ASSUMED_DISTANCE,
		"and what is not measured is assumed");
	ok(cp_machine_tells_time(&machine, error, sizeof(error)), "%s", error);
	machine.timed = true;
	spreads = cp_spreads_of(&machine);
	ok(spreads.known, "how far its time may be off: %s", spreads.why);
	free(text);
}

/* A figure may be off by what the file rounds off, too; and by what is more than was
 * waited for. */
static void test_rounded(void)
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "";

	set_rounds(&all, CP_FIGURE_MISPREDICT, (const double[]){9.6, 9.6, 9.6, 9.6, 9.6});
	set_rounds(&all, CP_FIGURE_STAY, (const double[]){500, 500, 500, 500, 500});
	for (unsigned i = 0; i < ROUNDS; i++)
		all.round[i].high[CP_FIGURE_STAY] = INFINITY;
	all.half[0].high[CP_FIGURE_STAY] = all.half[1].high[CP_FIGURE_STAY] = INFINITY;
	cp_calibration_conclude(&all);
	ok(all.at_least[CP_FIGURE_STAY] && !all.at_least[CP_FIGURE_WINDOW],
		"no more is known of it");
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		error);
	is_u64(machine.ooo.mispredict, 10, "rounded");
	is_u64(machine.spread[CP_ASSUMED_MISPREDICT], 4 + 1, "by so much");
	is_u64(machine.spread[CP_ASSUMED_WINDOW], 10 + 1, "a curve's is as before");
	is_u64(machine.ooo.stay, 500, "the least that it is");
	ok(!(machine.assumed >> CP_ASSUMED_STAY & 1), "which nobody assumes");
	ok(strstr(text, "\nllc-stay = 500  # measured: at least that, spread 0 %\n"),
		"as its line says: %s", text);
	free(text);
}

/* By sizes that nobody tells other levels may have been measured. */
static void test_sizes(void)
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "";

	all.sized = false;
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		error);
	ok(strstr(text, "# Sizes are assumed, "), "as the file says");
	ok(strstr(text,
		   "\nprefetch-latency = 39  # measured by assumed sizes: not stable\n"),
		"of each line: %s", text);
	ok(!strstr(text, "\nllc-stay = ") && !machine.ooo.stay,
		"how long lines stay is left out, unless it is stable");
	ok(machine.assumed >> CP_OF_L3 & 1 && !(machine.assumed >> CP_OF_L1 & 1),
		"what hangs on them is assumed");
	free(text);
}

static void test_once(void)
{
	struct cp_machine machine = cp_machine_defaults;
	struct cp_calibration all = made();
	char *text, error[200] = "";

	all.rounds = 1;
	cp_calibration_conclude(&all);
	ok(!cp_figure_is_stable(&all, CP_FIGURE_WINDOW), "one round is not stable");
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		error);
	ok(machine.assumed >> CP_ASSUMED_WINDOW & 1, "what it says is assumed");
	is_u64(machine.spread[CP_ASSUMED_WINDOW], 0, "how far it may be off is not said");
	ok(strstr(text, "  # measured once: not stable\n"), "as each line says");
	free(text);
}

static void test_curves(void)
{
	double curve[] = {4, 9, 4, 8, 5, 9, 9}, values[] = {5, 1, 9, 2, 8};

	cp_curve_settle(curve, COUNT(curve));
	ok(curve[0] == 4 && curve[1] == 4 && curve[2] == 4 && curve[3] == 5 &&
			curve[4] == 5 && curve[5] == 9 && curve[6] == 9,
		"a curve that cannot fall");
	is_double_near(cp_quarter(values, COUNT(values)), 2, 0, "a quarter is below");
}

static void test_check(void)
{
	static const double many[] = {70, 70, 70, 70, 70};
	struct cp_calibration all = made();
	char *text, error[200] = "";

	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_calibration_check(text, error, sizeof(error)), 0, "can be read");
	free(text);
	set_rounds(&all, CP_FIGURE_PARALLEL, many);
	cp_calibration_conclude(&all);
	text = cp_calibration_text(&all, "2026-11-25");
	is_int(cp_calibration_check(text, error, sizeof(error)), -EINVAL, "cannot");
	ok(strstr(error, "fill-buffers"), "and why: %s", error);
	free(text);
}

/* ---- who uses it ---- */

static char home[64], path[128];

static void write_host(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, mode) < 0)
		bail("cannot write %s", path);
}

/* The processor of this host decides what else it has. */
static void is_host(const char *note, bool measured, const char *what)
{
	struct cp_machine machine;
	char error[200];

	is_int(cp_machine_find(&machine, "host", error, sizeof(error)), 0, "%s: host",
		what);
	ok(strstr(machine.note, note), "%s: %s", what, machine.note);
	ok((machine.clock_mhz == 10 + CP_FIGURE_CLOCK) == measured, "%s: its clock",
		what);
	is_string(machine.name, "host", "%s: its name", what);
}

static void test_host(void)
{
	struct cp_calibration all;
	char *text = text_of(&all), *other = strdup(text), variable[128];
	char *environment[] = {variable, NULL};

	cp_format(home, sizeof(home), "/tmp/calibrate-XXXXXX");
	if (!mkdtemp(home))
		bail("cannot make a directory");
	cp_format(variable, sizeof(variable), "XDG_CONFIG_HOME=%s", home);
	cp_env_use(environment);
	is_host("", false, "no file");
	cp_format(path, sizeof(path), "%s/cachepeek", home);
	mkdir(path, 0700);
	cp_format(path, sizeof(path), "%s/cachepeek/host.machine", home);
	write_host(text, 0600);
	is_host("measured on 2026-11-25", true, "what was measured");
	memcpy(strstr(other, "\nhost = ") + 8, "Q", 1);
	write_host(other, 0600);
	is_host("host.machine not used: is of another processor", false,
		"another processor");
	write_host("clock-mhz = fast\n", 0600);
	is_host("host.machine not used: ", false, "a file that is wrong");
	unlink(path);
	if (symlink("/dev/null", path) == 0)
		is_host("host.machine not used: it is a symbolic link", false, "a link");
	unlink(path);
	cp_format(path, sizeof(path), "%s/cachepeek", home);
	rmdir(path);
	rmdir(home);
	cp_env_use((char *[]){NULL});
	free(text);
	free(other);
}

int main(void)
{
	plan_lazy();
	test_steps();
	test_rounds();
	test_grids();
	test_clock();
	test_halves();
	test_last_level(16);
	test_last_level(20);
	test_room();
	test_text();
	test_unstable();
	test_unknown();
	test_all_assumed();
	test_out_of_order();
	test_rounded();
	test_sizes();
	test_once();
	test_curves();
	test_check();
	test_host();
	return 0;
}
