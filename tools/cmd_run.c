/* SPDX-License-Identifier: MIT
 *
 * cachepeek [run] [options] PROGRAM [arguments]: sets the variables, runs the
 * program with the library preloaded, and reports when it has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/engine/engine.h"
#include "base/text.h"
#include "base/files/directory.h"
#include "base/files/trusted.h"
#include "regions/ancestors.h"
#include "base/machine/machine.h"
#include "regions/rank.h"
#include "regions/record.h"
#include "regions/rundir.h"
#include "tools/runs/alone_record.h"
#include "tools/runs/confirm.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/runs/launch.h"
#include "tools/shared/place.h"
#include "tools/shared/peers.h"
#include "tools/runs/preloading.h"
#include "tools/runs/repeat.h"
#include "tools/runs/run_paths.h"
#include "tools/runs/watch.h"

#define MAX_ADDED 16

struct settings {
	unsigned count;
	char *added[MAX_ADDED + 1];
	char *outputs, *changes, *regions;
	bool passes, confirm;
	unsigned repeat; /* 0: not asked for */
};

/* The last value of a variable holds: there are fewer names than MAX_ADDED. */
static void add_setting(struct settings *settings, const char *name, const char *value)
{
	size_t length = strlen(name);
	unsigned at = 0;
	char *entry;

	while (at < settings->count && (strncmp(settings->added[at], name, length) != 0 ||
					       settings->added[at][length] != '='))
		at++;
	if (at == MAX_ADDED || asprintf(&entry, "%s=%s", name, value) < 0)
		return;
	if (at == settings->count)
		settings->count++;
	free(settings->added[at]);
	settings->added[at] = entry;
}

static bool take_repeat(void *context, const struct cp_arg *arg, const char *text)
{
	struct settings *settings = context;
	uint64_t count;

	if (!cp_cmd_number(arg, text, 1, CP_MAX_REPEAT, &count))
		return false;
	settings->repeat = (unsigned)count;
	return true;
}

static bool set_variable(void *settings, const struct cp_arg *arg, const char *value)
{
	add_setting(settings, arg->of, value ? value : "1");
	return true;
}

#define SETS(variable) CP_ARG_BY(TAKE, set_variable, "CACHEPEEK_" variable)
#define SETS_FLAG(variable) CP_ARG_BY(TAKE_FLAG, set_variable, "CACHEPEEK_" variable)
#define AT(kind, member) CP_ARG_AT(kind, struct settings, member)

static const struct cp_arg args[] = {
	{"groups", 'g', SETS("GROUPS")},
	{"events", 'e', SETS("EVENTS")},
	{"output", 'o', AT(LIST, outputs)},
	{"engine", 'E', SETS("ENGINE")},
	{"machine", 'm', SETS("MACHINE")},
	{"dir", 'd', SETS("DIR")},
	{"regions", 'R', AT(LIST, regions)},
	{"interval", 'I', SETS("INTERVAL")},
	{"verbose", 'v', SETS_FLAG("VERBOSE")},
	{"json", 0, AT(LIST_JSON, outputs)},
	{"passes", 0, AT(FLAG, passes)},
	{"repeat", 0, CP_ARG_BY(TAKE, take_repeat, NULL)},
	{"confirm", 0, AT(FLAG, confirm)},
	{"what-if", 0, AT(LIST, changes)},
	{"sweep", 0, SETS("SWEEP")},
	{"working-set", 0, SETS("WORKING_SET")},
	{"sample", 0, SETS("SAMPLE")},
	{"call-paths", 0, SETS_FLAG("CALL_PATHS")},
	{"reproducible", 0,
		CP_ARG_BY(TAKE_OPTIONAL, set_variable, "CACHEPEEK_REPRODUCIBLE")},
	{.name = NULL},
};

static bool parse_arguments(struct settings *settings, int argc, char **argv)
{
	if (!cp_cmd_args(argc, argv, args, settings))
		return false;
	if (settings->changes)
		add_setting(settings, "CACHEPEEK_WHAT_IF", settings->changes);
	if (settings->regions)
		add_setting(settings, "CACHEPEEK_REGIONS", settings->regions);
	if (settings->outputs && !settings->repeat && !settings->confirm)
		add_setting(settings, "CACHEPEEK_OUTPUT", settings->outputs);
	return true;
}

/* By an option; NULL: not. */
static const char *given_value(const struct settings *settings, const char *name)
{
	size_t length = strlen(name);

	for (unsigned i = settings->count; i-- > 0;)
		if (strncmp(settings->added[i], name, length) == 0 &&
			settings->added[i][length] == '=')
			return settings->added[i] + length + 1;
	return NULL;
}

/* For a single run: outputs of several runs are checked where those are started. */
static bool is_right(const struct settings *settings)
{
	const struct cp_wanted wanted = {
		.groups = given_value(settings, "CACHEPEEK_GROUPS"),
		.events = given_value(settings, "CACHEPEEK_EVENTS"),
		.engine = given_value(settings, "CACHEPEEK_ENGINE"),
		.machine = given_value(settings, "CACHEPEEK_MACHINE"),
		.changes = given_value(settings, "CACHEPEEK_WHAT_IF"),
		.sweep = given_value(settings, "CACHEPEEK_SWEEP"),
		.window = given_value(settings, "CACHEPEEK_WORKING_SET"),
		.outputs = given_value(settings, "CACHEPEEK_OUTPUT"),
		.directory = given_value(settings, "CACHEPEEK_DIR"),
		.interval = given_value(settings, "CACHEPEEK_INTERVAL"),
	};

	return cp_check_wanted(&wanted);
}

/* ---- running it ---- */

/* The ranks of a job make one report, as they do without this command. */
static bool is_one_of_many(const struct cp_rank *rank, const struct settings *settings)
{
	return rank->job && rank->of > 1 && !settings->passes;
}

/* Part of a run that has its own launcher, or not to be counted at all. */
static bool is_uncounted(void)
{
	const char *disabled = getenv("CACHEPEEK_DISABLE");

	return getenv("CACHEPEEK__RUN") || (disabled && strcmp(disabled, "1") == 0);
}

static void say_unknown(const char *word)
{
	const char *like = cp_cmd_like(word), *answer = cp_peer_answer(word);

	if (answer) {
		fprintf(stderr, "cachepeek: there is no command \"%s\": %s\n", word,
			answer);
		return;
	}
	fprintf(stderr,
		"cachepeek: %s cannot be run: no program in PATH, "
		"no command of cachepeek: ",
		word);
	if (like)
		fprintf(stderr, "did you mean `cachepeek %s`?\n", like);
	else
		fprintf(stderr, "see cachepeek --help\n");
}

int cp_cannot_run(const char *program, int error)
{
	if (error == ENOENT && !strchr(program, '/'))
		say_unknown(program);
	else
		fprintf(stderr, "cachepeek: %s cannot be run: %s\n", program,
			strerror(error));
	return error == ENOENT ? 127 : 126;
}

static bool take_most(void *most, int dir, const char *name)
{
	struct cp_record_header header;
	char why[160];
	int fd = cp_trusted_open(dir, name, CP_FOUND, UINT64_MAX, why, sizeof(why));

	if (fd < 0)
		return false;
	if (read(fd, &header, sizeof(header)) == sizeof(header) &&
		header.npasses > *(unsigned *)most && header.npasses <= CP_MAX_PASSES)
		*(unsigned *)most = header.npasses;
	close(fd);
	return false;
}

/* How many runs it takes to count everything, as far as the records know. */
static unsigned passes_needed(const char *directory)
{
	unsigned most = 1;

	cp_directory_each(directory, ".rec", take_most, &most);
	return most;
}

/* The way the program ended, without a core file of our own beside its. */
int cp_end_like(int status)
{
	struct rlimit none = {0, 0};
	int number = WTERMSIG(status);
	sigset_t set;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return 128 + number;
}

/* The rest of the passes; a run that ends unlike the first is said to. */
static void run_more(const char *directory, char **argv, const struct cp_launch *first)
{
	unsigned needed = passes_needed(directory);
	struct cp_launch launch;
	char number[16];

	for (unsigned pass = 2; pass <= needed; pass++) {
		snprintf(number, sizeof(number), "%u", pass);
		setenv("CACHEPEEK_PASS", number, 1);
		if (cp_launch(&launch, argv, NULL) < 0)
			return;
		cp_launch_note(&launch, directory);
		if (launch.status == first->status)
			continue;
		fprintf(stderr,
			"cachepeek: pass %u of %u ended unlike the first (status %#x, "
			"not %#x): the others are left out\n",
			pass, needed, (unsigned)launch.status, (unsigned)first->status);
		return;
	}
}

/* Sets the number that distinguishes this command's jobs from others. */
static uint64_t set_scope(const struct cp_rank *rank)
{
	struct cp_ancestor self;
	uint64_t scope = 0;
	char text[24];

	if (rank->job)
		scope = cp_rank_scope(rank);
	else if (cp_ancestor_read(getpid(), &self))
		scope = cp_ancestor_key(&self);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)scope);
	setenv("CACHEPEEK__SCOPE", text, 1);
	return scope;
}

/* As the parent of the program: the run is ours, and so is its report. */
static int run_in(const char *directory, char **argv, const struct settings *settings,
	const struct cp_rank *rank)
{
	bool passes = settings->passes;
	uint64_t scope = set_scope(rank);
	struct cp_launch launch;
	struct cp_watch watch;
	int result;

	setenv("CACHEPEEK__LAUNCHER", directory, 1);
	if (passes)
		setenv("CACHEPEEK_PASS", "1", 1);
	cp_watch_start(&watch, directory, "");
	result = cp_launch(&launch, argv, &watch);
	if (result == 0)
		cp_launch_note(&launch, directory);
	if (result == 0 && passes)
		run_more(directory, argv, &launch);
	if (cp_directory_has(directory, ".rec"))
		cp_report_run(directory, scope, launch.pid, getenv("CACHEPEEK_OUTPUT"));
	else if (!getenv("CACHEPEEK_DIR"))
		cp_run_remove(directory);
	if (given_value(settings, "CACHEPEEK_CALL_PATHS"))
		cp_run_show_paths(directory, getenv("CACHEPEEK_OUTPUT"));
	return result < 0 ? cp_cannot_run(argv[0], -result) : cp_end_like(launch.status);
}

static const char *setting_value(const struct settings *settings, const char *name)
{
	const char *value = given_value(settings, name);

	return value ? value : getenv(name);
}

/* Why a static program runs uncounted; NULL: it is counted as a whole.  perf cannot, and
 * is not replaced where it is. */
static const char *static_uncounted(
	const struct settings *settings, const char *program, struct cp_why *why)
{
	const char *engine = setting_value(settings, "CACHEPEEK_ENGINE");
	bool asked = engine && strcmp(engine, "sim") == 0;

	if (is_uncounted() || (!asked && ((engine && strcmp(engine, "auto") != 0) ||
						 cp_perf_hardware_works(why))))
		return "link it dynamically, or -E sim counts the whole run";
	if (!cp_alone_possible(program, why))
		return why->text;
	if (!asked)
		fprintf(stderr,
			"cachepeek: %s is statically linked: counted as a whole, "
			"on the simulated PMU,\n10 to 70 times slower; "
			"CACHEPEEK_ENGINE=perf forbids this\n",
			program);
	return NULL;
}

static int run_alone(char **argv, const struct settings *settings, const char *directory)
{
	struct cp_launch launch = {0};
	int result = cp_alone_record(argv, settings->added, directory, &launch);

	if (given_value(settings, "CACHEPEEK_VERBOSE"))
		setenv("CACHEPEEK_VERBOSE", "1", 1);
	if (cp_directory_has(directory, ".rec"))
		cp_report_run(directory, 0, launch.pid,
			setting_value(settings, "CACHEPEEK_OUTPUT"));
	else if (!setting_value(settings, "CACHEPEEK_DIR"))
		cp_run_remove(directory);
	return result < 0 ? cp_cannot_run(argv[0], -result) : cp_end_like(launch.status);
}

/* Counted as a whole if that is possible; else it runs as it is. */
static bool run_static(char **argv, const struct settings *settings, int *result)
{
	char directory[CP_RUNDIR_SIZE];
	struct cp_why why;
	const char *uncounted = static_uncounted(settings, argv[0], &why);

	if (uncounted)
		fprintf(stderr,
			"cachepeek: %s is statically linked: "
			"nothing can be preloaded into it, so it runs uncounted (%s)\n",
			argv[0], uncounted);
	if (uncounted || cp_launch_make_run(setting_value(settings, "CACHEPEEK_DIR"),
				 directory, sizeof(directory)) < 0)
		return false;
	*result = run_alone(argv, settings, directory);
	return true;
}

/* Options that several runs exclude. */
static const char *not_repeated(enum cp_preloading preloading, const struct settings *s)
{
	if (preloading != CP_CAN_PRELOAD)
		return "nothing can be preloaded into it, so there is nothing to repeat";
	if (s->passes)
		return "--repeat and --passes each make several runs: use one of them";
	if (given_value(s, "CACHEPEEK_CALL_PATHS"))
		return "--call-paths shows those of one run: leave one of them out";
	return is_uncounted() ? "it runs uncounted here (CACHEPEEK_DISABLE=1, "
				"or inside a counted run)"
			      : NULL;
}

static int repeat_program(
	enum cp_preloading preloading, const struct settings *settings, char **argv)
{
	const char *why = not_repeated(preloading, settings);

	if (why) {
		fprintf(stderr, "cachepeek: --repeat: %s: %s\n", argv[0], why);
		return 2;
	}
	if (cp_prepare_preload(settings->added) < 0)
		return 127;
	return cp_repeat(settings->repeat, settings->outputs, argv);
}

/* Options that ask for something else than time. */
static const char *not_confirmed(enum cp_preloading preloading, const struct settings *s)
{
	static const struct {
		const char *variable, *option;
	} others[] = {{"CACHEPEEK_GROUPS", "-g"}, {"CACHEPEEK_EVENTS", "-e"},
		{"CACHEPEEK_ENGINE", "-E"}, {"CACHEPEEK_DIR", "-d"},
		{"CACHEPEEK_SWEEP", "--sweep"},
		{"CACHEPEEK_WORKING_SET", "--working-set"},
		{"CACHEPEEK_SAMPLE", "--sample"},
		{"CACHEPEEK_CALL_PATHS", "--call-paths"}};

	if (preloading != CP_CAN_PRELOAD)
		return "nothing can be preloaded into it, so it has no regions";
	if (s->passes || s->repeat)
		return "makes a native and a simulated run: "
		       "leave --repeat and --passes out";
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (given_value(s, others[i].variable))
			return others[i].option;
	return is_uncounted() ? "it runs uncounted here (CACHEPEEK_DISABLE=1, "
				"or inside a counted run)"
			      : NULL;
}

static int confirm_prediction(
	enum cp_preloading preloading, const struct settings *settings, char **argv)
{
	const char *why = not_confirmed(preloading, settings);
	struct cp_machine machine;

	if (why) {
		fprintf(stderr, "cachepeek: --confirm: %s%s\n", why,
			*why == '-' ? " asks for something else than time: leave it out"
				    : "");
		return 2;
	}
	if (!cp_confirm_machine(&machine, setting_value(settings, "CACHEPEEK_MACHINE"),
		    setting_value(settings, "CACHEPEEK_WHAT_IF")))
		return 2;
	if (cp_prepare_preload(settings->added) < 0)
		return 127;
	return cp_confirm_run(&machine, settings->outputs, argv);
}

/* `cachepeek stat ./app` counts stat(1), which is seldom what was meant. */
static void note_peer(char **argv)
{
	const char *answer = cp_peer_answer(argv[0]);
	struct stat next;

	if (answer && argv[1] && stat(argv[1], &next) == 0 && S_ISREG(next.st_mode) &&
		access(argv[1], X_OK) == 0)
		fprintf(stderr, "cachepeek: %s is a program, and is counted: %s\n",
			argv[0], answer);
}

int cp_cmd_run(int argc, char **argv)
{
	struct settings settings = {0};
	char directory[CP_RUNDIR_SIZE];
	enum cp_preloading preloading;
	struct cp_rank rank;
	int result;

	if (!parse_arguments(&settings, argc, argv))
		return 2;
	if (optind == argc) {
		fprintf(stderr, "cachepeek: no program to run: "
				"cachepeek [run] [options] PROGRAM [arguments]; "
				"`cachepeek help run` shows the options\n");
		return 2;
	}
	if (!is_right(&settings))
		return 2;
	note_peer(argv + optind);
	preloading = cp_can_be_preloaded(argv[optind]);
	if (settings.confirm)
		return confirm_prediction(preloading, &settings, argv + optind);
	if (settings.repeat)
		return repeat_program(preloading, &settings, argv + optind);
	if (preloading == CP_STATIC && run_static(argv + optind, &settings, &result))
		return result;
	if (preloading == CP_CANNOT_PRELOAD) {
		execvp(argv[optind], argv + optind);
		return cp_cannot_run(argv[optind], errno);
	}
	result = cp_prepare_preload(settings.added);
	if (result < 0)
		return 127;
	cp_rank_find(&rank, cp_cmd_getenv);
	if (is_uncounted() || is_one_of_many(&rank, &settings) ||
		cp_launch_make_run(cp_cmd_getenv("CACHEPEEK_DIR"), directory,
			sizeof(directory)) < 0) {
		execvp(argv[optind], argv + optind);
		return cp_cannot_run(argv[optind], errno);
	}
	return run_in(directory, argv + optind, &settings, &rank);
}
