/* SPDX-License-Identifier: MIT
 *
 * What cachepeek doctor --calibrate makes of its measurements: one figure of several
 * rounds, steps of curves, the machine file, and who uses that.
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

static struct cp_calibration made(void)
{
	struct cp_calibration calibration = {.rounds = ROUNDS};

	cp_machine_sysfs(&calibration.machine);
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
			calibration.round[i][figure] =
				figure == CP_FIGURE_WALKERS ? 4 : 10 + figure;
	return calibration;
}

static void set_rounds(struct cp_calibration *calibration, enum cp_figure figure,
	const double rounds[ROUNDS])
{
	for (unsigned i = 0; i < ROUNDS; i++)
		calibration->round[i][figure] = rounds[i];
}

static void test_rounds(void)
{
	static const double some[] = {130, 100, 110, 104, 400},
			    few[] = {NAN, 5, NAN, 6, NAN}, most[] = {NAN, 5, 7, 6, NAN};
	struct cp_calibration all = made();

	set_rounds(&all, CP_FIGURE_MEMORY, some);
	set_rounds(&all, CP_FIGURE_CLOCK, some);
	set_rounds(&all, CP_FIGURE_STLB, some);
	set_rounds(&all, CP_FIGURE_STAY, some);
	set_rounds(&all, CP_FIGURE_LLC_RANDOM, some);
	set_rounds(&all, CP_FIGURE_WINDOW, few);
	set_rounds(&all, CP_FIGURE_TRANSFER, most);
	cp_calibration_conclude(&all);
	is_double_near(all.value[CP_FIGURE_MEMORY], 100, 0, "of times the least");
	is_double_near(
		all.spread[CP_FIGURE_MEMORY], 0.1, 1e-9, "and how far the middle is");
	ok(cp_figure_is_stable(&all, CP_FIGURE_MEMORY), "which is near enough");
	is_double_near(all.value[CP_FIGURE_CLOCK], 400, 0, "of rates the most");
	ok(!cp_figure_is_stable(&all, CP_FIGURE_CLOCK), "which is far from the middle");
	is_double_near(all.value[CP_FIGURE_LLC_RANDOM], 110, 0, "of places the middle");
	is_double_near(all.spread[CP_FIGURE_LLC_RANDOM], 26 / 110.0, 1e-9,
		"and the half around");
	is_double_near(all.value[CP_FIGURE_STLB], 400, 0, "of curves the last");
	is_double_near(all.spread[CP_FIGURE_STLB], 296 / 400.0, 1e-9,
		"and those of the second half");
	is_double_near(all.value[CP_FIGURE_STAY], 400, 0, "so of what others disturb");
	is_double_near(
		all.spread[CP_FIGURE_STAY], 300 / 400.0, 1e-9, "and those of all rounds");
	ok(isnan(all.value[CP_FIGURE_WINDOW]), "two rounds of five are none");
	ok(!cp_figure_is_stable(&all, CP_FIGURE_WINDOW), "and that is not stable");
	is_double_near(all.value[CP_FIGURE_TRANSFER], 5, 0, "three are");
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
	uint64_t way = (uint64_t)ways * 64, least = 1024u * (10 + CP_FIGURE_LLC_STREAM);
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
		"the last level is what streams get of it");
	is_u64(llc->ways, ways, "in so many ways");
	free(text);
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
	is_u64(machine.memory_latency, 200, "memory-latency");
	is_u64(machine.assumed,
		1u << CP_OF_MEMORY | 1u << CP_ASSUMED_WRITE_BUFFERS |
			1u << CP_ASSUMED_DISTANCE,
		"which is assumed, as is what is not measured");
	is_u64(machine.spread[CP_OF_MEMORY], 50 + 1, "and off by its spread");
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

/* What is not stable is said, and called assumed. */
static void test_unstable(void)
{
	static const double apart[] = {30, 20, 90, 25, 40};
	static const enum cp_figure figures[] = {CP_FIGURE_WALK, CP_FIGURE_STLB_HIT,
		CP_FIGURE_CLOCK, CP_FIGURE_PARALLEL, CP_FIGURE_TRANSFER};
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
	is_u64(machine.clock_mhz, 90, "the clock");
	is_u64(machine.fill_buffers, 40, "fill-buffers");
	is_u64(machine.cache_to_cache_latency, 20, "a transfer, as");
	cp_machine_assumed_keys(&machine, keys, sizeof(keys));
	is_string(keys,
		"cache-to-cache-latency, stlb, walk-latency, clock-mhz, fill-buffers, "
		"write-buffers, prefetch-distance",
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
	is_u64(machine.assumed,
		1u << CP_ASSUMED_WRITE_BUFFERS | 1u << CP_ASSUMED_DISTANCE,
		"and what is not measured is assumed");
	ok(cp_machine_tells_time(&machine, error, sizeof(error)), "%s", error);
	machine.timed = true;
	spreads = cp_spreads_of(&machine);
	ok(spreads.known, "how far its time may be off: %s", spreads.why);
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

static void is_host(const char *note, uint32_t clock, const char *what)
{
	struct cp_machine machine;
	char error[200];

	is_int(cp_machine_find(&machine, "host", error, sizeof(error)), 0, "%s: host",
		what);
	ok(strstr(machine.note, note), "%s: %s", what, machine.note);
	is_u64(machine.clock_mhz, clock, "%s: its clock", what);
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
	is_host("assumed", 0, "no file");
	cp_format(path, sizeof(path), "%s/cachepeek", home);
	mkdir(path, 0700);
	cp_format(path, sizeof(path), "%s/cachepeek/host.machine", home);
	write_host(text, 0600);
	is_host("measured on 2026-11-25", 10 + CP_FIGURE_CLOCK, "what was measured");
	memcpy(strstr(other, "\nhost = ") + 8, "Q", 1);
	write_host(other, 0600);
	is_host("host.machine not used: is of another processor", 0, "another processor");
	write_host("clock-mhz = fast\n", 0600);
	is_host("host.machine not used: ", 0, "a file that is wrong");
	unlink(path);
	if (symlink("/dev/null", path) == 0)
		is_host("host.machine not used: it is a symbolic link", 0, "a link");
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
	test_last_level(16);
	test_last_level(20);
	test_text();
	test_unstable();
	test_unknown();
	test_all_assumed();
	test_out_of_order();
	test_once();
	test_curves();
	test_check();
	test_host();
	return 0;
}
