/* SPDX-License-Identifier: MIT
 *
 * cachepeek: finds the command and leaves the rest to it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "output/table.h"
#include "preload/options.h"
#include "tools/cmd.h"
#include "tools/demangle.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", cp_cmd_run},
	{"report", cp_cmd_report},
	{"compare", cp_cmd_compare},
	{"dcache", cp_cmd_profile},
	{"dtlb", cp_cmd_profile},
	{"icache", cp_cmd_profile},
	{"sharing", cp_cmd_sharing},
	{"annotate", cp_cmd_annotate},
	{"diff", cp_cmd_diff},
	{"merge", cp_cmd_merge},
	{"list", cp_cmd_list},
	{"doctor", cp_cmd_doctor},
};

static const char usage[] =
	"usage: cachepeek [run] [options] PROGRAM [arguments]\n"
	"       cachepeek report [-o|--output OUTPUT]... [--json] [DIRECTORY|RECORD]...\n"
	"       cachepeek report --forget [DIRECTORY]...\n"
	"       cachepeek compare -m|--machines NAME,... [-g|--groups GROUPS]\n"
	"                 [-e|--events EVENTS] [-o|--output FILE] [--json]\n"
	"                 PROGRAM [arguments]\n"
	"       cachepeek dcache [options] [PROGRAM [arguments]]\n"
	"       cachepeek dtlb [options] [PROGRAM [arguments]]\n"
	"       cachepeek icache [options] [PROGRAM [arguments]]\n"
	"       cachepeek sharing [-m|--machine NAME] [--quantum N] [--least N]\n"
	"                 [-o|--output FILE] [-d|--dir DIRECTORY] [--debuginfod]\n"
	"                 [PROGRAM [arguments]]\n"
	"       cachepeek annotate [options] SOURCE [PROGRAM [arguments]]\n"
	"       cachepeek diff [--fail-if CONDITION]... [-o|--output OUTPUT]...\n"
	"                 [--json] [--all] BEFORE AFTER | BEFORE... -- AFTER...\n"
	"       cachepeek merge [-o|--output OUTPUT]... [--json] DIRECTORY|RECORD...\n"
	"       cachepeek list events|presets|groups|machines [-p|--pmu PMU] [NAME]...\n"
	"       cachepeek list presets --check [-v|--verbose]\n"
	"       cachepeek doctor [--verify]\n"
	"       cachepeek --help | --version\n"
	"\n"
	"Tells which caches a program uses, and where.  Without a command, runs the\n"
	"program; `report` without a directory shows the last run again.\n"
	"\n"
	"Options of run, each of which sets a variable:\n"
	"  -g, --groups GROUP,...    -e, --events EVENT,...    -o, --output SINK\n"
	"  -E, --engine ENGINE       -m, --machine NAME        -d, --dir DIRECTORY\n"
	"  -v, --verbose             --passes: run the program as often as the events\n"
	"                            need, each time counting a part of them\n"
	"  --repeat N: run it N times, and report how far the values are apart\n"
	"  --what-if LEVEL.FIELD=VALUE,...: change the simulated machine\n"
	"  --sweep LEVEL.FIELD=FIRST..LAST: misses of a level of other sizes\n"
	"  --working-set N: lines and pages touched in N instructions\n"
	"\n"
	"Options of dcache, dtlb and icache, which report misses by function:\n"
	"  -o, --output FILE         -m, --machine NAME        -d, --dir DIRECTORY\n"
	"  --sort misses|latency|avg --details src|insn|all    --context-lines LINES\n"
	"  --cutoff PERCENT,CUMULATIVE,ROWS                    --debuginfod\n"
	"  -E, --engine sim|perf     --sharing: dcache also looks for false sharing\n"
	"\n"
	"Options of annotate, which shows a source file with the misses of its lines:\n"
	"  -p, --profile dcache|dtlb|icache                    -i, --input FILE.json\n"
	"  -o, --output FILE         -m, --machine NAME        -d, --dir DIRECTORY\n"
	"  --context-lines LINES     --debuginfod\n"
	"\n"
	"Variables, for the command and for LD_PRELOAD=libcachepeek.so alike:\n";

static void print_variable(const struct cp_option *option)
{
	char text[512];

	snprintf(text, sizeof(text), "%s", option->help);
	if (option->fallback && !strstr(option->help, "default"))
		snprintf(text, sizeof(text), "%s (default: %s)", option->help,
			option->fallback);
	printf("  %s=%s\n        ", option->name,
		option->choices ? option->choices : option->placeholder);
	cp_cmd_wrap(text, 8, 8);
}

static int help(void)
{
	fputs(usage, stdout);
	for (const struct cp_option *option = cp_option_table; option->name; option++)
		print_variable(option);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int version(void)
{
	printf("cachepeek %s\n", CP_VERSION);
	return fflush(stdout) == 0 ? 0 : 1;
}

int cp_cmd_misspelt(const char *what, const char *word, const char *const *known)
{
	const char *nearest = cp_nearest(word, known);

	if (nearest)
		fprintf(stderr,
			"cachepeek: there is no %s \"%s\": did you mean \"%s\"?\n", what,
			word, nearest);
	else
		fprintf(stderr,
			"cachepeek: there is no %s \"%s\": `cachepeek --help` has them\n",
			what, word);
	return 2;
}

void cp_cmd_wrap(const char *text, size_t at, size_t indent)
{
	struct cp_out out;

	fflush(stdout);
	cp_out_open(&out, STDOUT_FILENO);
	cp_text_wrap(&out, text, at, indent, 80);
	(void)cp_out_flush(&out);
}

const char *cp_cmd_like(const char *word)
{
	const char *names[sizeof(commands) / sizeof(commands[0]) + 1] = {NULL};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		names[i] = commands[i].name;
	return strchr(word, '/') ? NULL : cp_nearest(word, names);
}

static const struct command *find_command(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(word, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command = find_command(argc > 1 ? argv[1] : "");
	const char *word;

	cp_demangle_start();
	if (argc < 2) {
		fprintf(stderr,
			"cachepeek: no program to run: cachepeek PROGRAM [arguments], or "
			"cachepeek --help\n");
		return 2;
	}
	word = command && argc > 2 ? argv[2] : argv[1];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return help();
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return version();
	return command ? command->run(argc - 1, argv + 1) : cp_cmd_run(argc, argv);
}
