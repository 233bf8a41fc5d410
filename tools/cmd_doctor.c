/* SPDX-License-Identifier: MIT
 *
 * cachepeek doctor: what can be counted here, why not, and what would change
 * that.  --verify runs kernels of known counts (tools/kernels.c) on each engine
 * and compares; --calibrate measures the host
 * (tools/calibrate).
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "output/report/report.h"
#include "base/engine/engine.h"
#include "base/machine/machine.h"
#include "base/counters/simtool.h"
#include "base/encoder/pfm.h"
#include "regions/rundir.h"
#include "tools/calibrate/command.h"
#include "tools/shared/cmd.h"
#include "tools/kernels.h"
#include "tools/shared/place.h"

/* The argument with which this command runs itself as the program under test. */
#define KERNELS "--run-kernels"

#define WIDTH 78
#define INDENT 26

/* Text broken at blanks, its lines after the first indented. */
static void print_wrapped(const char *text)
{
	size_t room = WIDTH - INDENT, length = strlen(text);

	while (length > room) {
		const char *blank = memrchr(text, ' ', room + 1);
		size_t at = blank ? (size_t)(blank - text) : strcspn(text, " ");

		printf("%.*s\n%*s", (int)at, text, INDENT, "");
		text += at + (text[at] == ' ');
		length = strlen(text);
	}
	printf("%s\n", text);
}

/* doc/cachepeek-doctor-1.schema.json; NULL: text is printed instead. */
static json_t *document;

static void print_row(const char *what, bool can, const char *text)
{
	if (document) {
		json_array_append_new(json_object_get(document, "can_count"),
			json_pack(
				"{ss sb ss}", "what", what, "works", can, "text", text));
		return;
	}
	printf("  %-18s  %-4s ", what, can ? "yes" : "no");
	print_wrapped(text);
}

/* ---- what can be counted ---- */

static bool software_works(struct cp_why *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
	};

	return cp_perf_probe(&attr, NULL, why) == 0;
}

static bool breakpoints_work(struct cp_why *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)&cp_cmd_doctor,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
	};

	return cp_perf_probe(&attr, NULL, why) == 0;
}

/* Which figures of time are guesses, or how to get any. */
static void say_time(const struct cp_machine *machine, char *text, size_t size)
{
	char missing[160], assumed[160];

	cp_machine_assumed_keys(machine, assumed, sizeof(assumed));
	if (!cp_machine_tells_time(machine, missing, sizeof(missing)))
		snprintf(text, size,
			"; no time: its latencies of %s are not known "
			"(`cachepeek doctor --calibrate` measures them)",
			missing);
	else if (*assumed)
		snprintf(text, size, "; time assumes %s", assumed);
}

static bool simulator_works(char *text, size_t size)
{
	char library[PATH_MAX], tool[PATH_MAX + 64], error[256];
	struct cp_machine machine;

	if (cp_library_path(library, sizeof(library)) < 0) {
		snprintf(text, size,
			"libcachepeek.so is not installed: run `make install`");
		return false;
	}
	*strrchr(library, '/') = '\0';
#if defined(__aarch64__)
	snprintf(tool, sizeof(tool), "%s/libcachepeek/cachepeek-arm64-linux", library);
#else
	snprintf(tool, sizeof(tool), "%s/libcachepeek/" CP_SIM_TOOL, library);
#endif
	if (access(tool, X_OK) != 0) {
		snprintf(text, size, "%s is missing: run `make install`", tool);
		return false;
	}
	if (cp_machine_find(&machine, "host", error, sizeof(error)) == 0) {
		cp_machine_describe(&machine, text, size);
		say_time(&machine, text + strlen(text), size - strlen(text));
	}
	return true;
}

static void print_setting(const char *name)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (!cp_read_file(path, text, sizeof(text)))
		return;
	if (document)
		json_object_set_new(
			json_object_get(document, "settings"), name, json_string(text));
	else
		printf("  kernel.%s = %s\n", name, text);
}

static void print_settings(void)
{
	print_setting("perf_event_paranoid");
	print_setting("nmi_watchdog");
	if (document)
		json_object_set_new(document, "pmu",
			cp_encoder.core_pmu(0) ? json_string(cp_encoder.core_pmu(0))
					       : json_null());
	else if (cp_encoder.core_pmu(0))
		printf("  libpfm4 names this PMU %s\n", cp_encoder.core_pmu(0));
	else
		printf("  libpfm4 does not know this CPU's PMU: perf:: names only\n");
}

static void diagnose_engines(bool *hardware, bool *software, bool *simulator)
{
	struct cp_why why = {""};
	char text[PATH_MAX + 128];

	*hardware = cp_perf_hardware_works(&why);
	print_row(
		"hardware counters", *hardware, *hardware ? "the PMU counts" : why.text);
	*software = software_works(&why);
	print_row("software events", *software,
		*software ? "page faults, context switches, migrations, task clock"
			  : why.text);
	print_row("breakpoint events", breakpoints_work(&why),
		breakpoints_work(&why) ? "mem:ADDRESS:x counts the calls of a function"
				       : why.text);
	*simulator = simulator_works(text, sizeof(text));
	print_row("simulated PMU", *simulator, text);
}

/* ---- verification ---- */

static int run_kernels(const char *engine, const char *directory)
{
	char *argv[] = {
		(char[]){"/proc/self/exe"}, (char[]){"doctor"}, (char[]){KERNELS}, NULL};
	char variables[5][PATH_MAX + 32], self[PATH_MAX];
	char *added[6] = {variables[0], variables[1], variables[2], variables[3],
		variables[4], NULL};
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status = -1;
	pid_t child;

	if (length <= 0)
		return -ENOENT;
	self[length] = '\0';
	argv[0] = self;
	snprintf(variables[0], sizeof(variables[0]), "CACHEPEEK_ENGINE=%s", engine);
	snprintf(variables[1], sizeof(variables[1]), "CACHEPEEK_DIR=%s", directory);
	snprintf(variables[2], sizeof(variables[2]), "CACHEPEEK_OUTPUT=%s/report.json",
		directory);
	snprintf(variables[3], sizeof(variables[3]),
		"CACHEPEEK_EVENTS=instructions,l1d_loads,l1d_stores,l1d_load_misses,"
		"l1d_store_misses,l1d_misses,dtlb_misses,dtlb_walks,page_faults");
	snprintf(variables[4], sizeof(variables[4]), "CACHEPEEK_GROUPS=");
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(-cp_exec_preloaded(argv, added));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -errno;
	return status == 0 ? 0 : -ECHILD;
}

static const struct cp_region *find_region(
	const struct cp_report *report, const char *name)
{
	const struct cp_region *region = report->total;

	for (; region; region = cp_region_next(report->total, region))
		if (region->depth == 1 && cp_slice_is(region->name, name))
			return region;
	return NULL;
}

static bool as_expected(const struct cp_kernel *kernel, uint64_t value, bool sim)
{
	double expected = (double)kernel->expected,
	       slack = expected * kernel->hardware_slack;

	if (sim || kernel->hardware_slack == 0)
		return value >= kernel->expected &&
		       value <= kernel->expected + (sim ? kernel->sim_slack : 0);
	return (double)value >= expected - slack && (double)value <= expected + slack;
}

/* count: NULL, or not counted: the reason is `what`. */
static void print_verified(const struct cp_kernel *kernel, const struct cp_count *count,
	const char *word, const char *what)
{
	char measured[24] = "-";

	if (document) {
		json_t *verified = json_object_get(document, "verified");
		json_t *engine = json_array_get(verified, json_array_size(verified) - 1);

		json_array_append_new(json_object_get(engine, "presets"),
			json_pack("{ss sI so ss ss}", "preset", kernel->preset,
				"expected", (json_int_t)kernel->expected, "measured",
				count ? json_integer((json_int_t)count->value)
				      : json_null(),
				"result", word, "what", what));
		return;
	}
	if (count)
		snprintf(measured, sizeof(measured), "%llu",
			(unsigned long long)count->value);
	printf("  %-18s %12llu  %12s  %-4s  %s\n", kernel->preset,
		(unsigned long long)kernel->expected, measured, word, what);
}

/* 1 right, 0 wrong, -1 not counted here. */
static int verify_kernel(
	const struct cp_report *report, const struct cp_kernel *kernel, bool sim)
{
	const struct cp_region *region = find_region(report, kernel->region);
	int index = cp_report_quantity(report, kernel->preset);
	const struct cp_count *count =
		region && index >= 0 ? &region->counts[index] : NULL;
	bool right;

	if (!count || count->status == CP_UNAVAILABLE) {
		print_verified(kernel, NULL, "skip",
			count ? "not counted here" : "no such region");
		return count ? -1 : 0;
	}
	right = as_expected(kernel, count->value, sim);
	print_verified(kernel, count, right ? "ok" : "OFF", kernel->what);
	return right;
}

static void remove_run(const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/report.json", directory);
	unlink(path);
	cp_run_remove(directory);
}

static void print_engine(const char *engine)
{
	if (document)
		json_array_append_new(json_object_get(document, "verified"),
			json_pack("{ss s[]}", "engine", engine, "presets"));
	else
		printf("\nengine %s\n  %-18s %12s  %12s\n", engine, "preset", "expected",
			"measured");
}

/* How many kernels were counted wrongly; -1: no report. */
static int verify_engine(const char *engine)
{
	char directory[] = "/tmp/cachepeek-doctor-XXXXXX", error[256] = "";
	const char *paths[] = {directory};
	const struct cp_report *report = NULL;
	struct cp_arena arena = {0};
	int wrong = 0, checked = 0;

	if (!mkdtemp(directory))
		return -1;
	if (run_kernels(engine, directory) == 0)
		report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	print_engine(engine);
	for (const struct cp_kernel *kernel = cp_kernels; report && kernel->region;
		kernel++) {
		int result = verify_kernel(report, kernel, strcmp(engine, "sim") == 0);

		wrong += result == 0;
		checked += result >= 0;
	}
	if (!document && report)
		printf("  %d of %d right\n", checked - wrong, checked);
	else if (!document)
		printf("  no report: %s\n", *error ? error : "the kernels did not run");
	cp_arena_free(&arena);
	remove_run(directory);
	return report && checked ? wrong : -1;
}

struct wanted {
	bool verify, calibrate, json;
	const char *file; /* of the calibration */
};

#define AT(kind, member) CP_ARG_AT(kind, struct wanted, member)

static const struct cp_arg args[] = {
	{"verify", 0, AT(FLAG, verify)},
	{"calibrate", 0, AT(FLAG, calibrate)},
	{"output", 'o', AT(TEXT, file)},
	{"json", 0, AT(FLAG, json)},
	{.name = NULL},
};

static bool parse_arguments(int argc, char **argv, struct wanted *wanted)
{
	if (!cp_cmd_args_mixed(argc, argv, args, wanted))
		return false;
	if (optind < argc)
		fprintf(stderr, "cachepeek: doctor takes only options, not %s\n",
			argv[optind]);
	else if (wanted->file && !wanted->calibrate)
		fprintf(stderr, "cachepeek: -o FILE goes with doctor --calibrate\n");
	else
		return true;
	return false;
}

static void print_heading(void)
{
	if (!document)
		printf("cachepeek %s: what can be counted here\n\n", CP_VERSION);
}

static void print_choice(bool hardware, bool simulator)
{
	if (document)
		json_object_set_new(document, "engine",
			json_string(hardware || !simulator ? "perf" : "sim"));
	else
		printf("  without CACHEPEEK_ENGINE: %s\n",
			hardware    ? "hardware counters (perf)"
			: simulator ? "the simulated PMU (sim)"
				    : "software events only (perf)");
}

static int print_document(void)
{
	bool written = json_dumpf(document, stdout, JSON_INDENT(1)) == 0;

	json_decref(document);
	return putchar('\n') != EOF && written && fflush(stdout) == 0 ? 0 : 1;
}

static int diagnose_and_verify(const struct wanted *wanted)
{
	bool hardware, software, simulator;
	int failures = 0;

	print_heading();
	diagnose_engines(&hardware, &software, &simulator);
	if (!document)
		printf("\n");
	print_settings();
	print_choice(hardware, simulator);
	if (wanted->verify && software)
		failures += verify_engine("perf") != 0;
	if (wanted->verify && simulator)
		failures += verify_engine("sim") != 0;
	return failures ? 1 : 0;
}

int cp_cmd_doctor(int argc, char **argv)
{
	struct wanted wanted = {.verify = false};
	int status;

	if (argc > 1 && strcmp(argv[1], KERNELS) == 0) {
		cp_kernels_run();
		return 0;
	}
	if (!parse_arguments(argc, argv, &wanted))
		return 2;
	if (wanted.json)
		document = json_pack("{ss ss s[] s{} s[]}", "schema",
			"cachepeek-doctor/1", "cachepeek", CP_VERSION, "can_count",
			"settings", "verified");
	status = diagnose_and_verify(&wanted);
	fflush(stdout);
	if (wanted.calibrate && status != 2) {
		int calibrated = cp_calibrate_command(wanted.file, document);

		status = calibrated ? calibrated : status;
	}
	return document && print_document() ? 1 : status;
}
