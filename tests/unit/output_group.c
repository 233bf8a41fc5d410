/* SPDX-License-Identifier: MIT
 *
 * Groups and presets: the compiled-in ones are sound, and mistakes in a
 * user's are explained in one line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "output/metrics/group.h"
#include "output/metrics/preset.h"
#include "tests/tap/tap.h"
#include "tools/sim/request.h"

static struct cp_arena arena = {.give_up = tap_no_memory};

#define HEAD "@group g\n@need instructions l1d_misses\n"

static void test_mistakes(void)
{
	static const struct {
		const char *text, *says[3];
	} cases[] = {
		{HEAD "x = l1d_misses / cycles\n", {"cycles", "@need", "@want"}},
		{"@group g\n@need l1d_mises\n", {"f:2", "l1d_mises", "l1d_misses"}},
		{"@group g\n@need qqqqqqqq\n", {"f:2", "qqqqqqqq", "list presets"}},
		{HEAD "x = (1 + 2\n", {"f:3", "metric x", "parenthesis"}},
		{HEAD "x 1 + 2\n", {"f:3", "NAME [UNIT] = FORMULA", ""}},
		{HEAD "@colums x \"y\"\n", {"f:3", "@colums", "@columns"}},
		{HEAD "@columns x \"y\"\n", {"column x", "metric", ""}},
		{HEAD "@columns instructions\n", {"f:3", "instructions", "heading"}},
		{HEAD "@mark nothing\n", {"@mark nothing", "", ""}},
		{HEAD "@mark instructions nothing\n", {"@mark nothing", "", ""}},
		{HEAD "@mark a b c d e\n", {"f:3", "@mark takes 4 names", ""}},
		{HEAD "@long\nfor ever\n", {"f:3", "@long", "@end"}},
		{HEAD "@let X 1e\n", {"f:3", "@let X 1e", "number"}},
		{HEAD "@let X 0 nothing\n", {"f:3", "@let X 0", "above 0"}},
		{HEAD "@let X\n", {"f:3", "@let NAME NUMBER", ""}},
		{HEAD "@check instructions \"x\"\n", {"f:3", "LEFT <= RIGHT", ""}},
		{HEAD "@check instructions < cycles \"x\"\n",
			{"f:3", "LEFT <= RIGHT", ""}},
		{HEAD "@check instructions <= cycles \"x\"\n", {"cycles", "@need", ""}},
		{HEAD "@check (instructions ~ 2 \"x\"\n", {"f:3", "@check", ""}},
		{HEAD "a = b + 1\nb = 2\n", {"formula uses b", "@need", ""}},
		{HEAD "a = a + 1\n", {"formula uses a", "@need", ""}},
		{"@need instructions\n", {"no name", "@group", ""}},
		{"@group g\n", {"counts nothing", "@need", ""}},
		{HEAD "two words [1] = 1\n", {"f:3", "one word", ""}},
	};
	char error[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool all =
			!cp_group_parse(&arena, "f", cases[i].text, error, sizeof(error));

		for (int j = 0; j < 3; j++)
			all = all && strstr(error, cases[i].says[j]);
		ok(all && !strchr(error, '\n'), "%s", error);
	}
}

static void test_parse(void)
{
	char error[300] = "";
	const struct cp_group *group = cp_group_parse(&arena, "f",
		"# a comment\n@group mine\n@title What I look at  # not this\n"
		"@need instructions\n@want perf::PAGE-FAULTS l1d_misses\n"
		"a [1/kinstr] = 1000 * l1d_misses / instructions\nb = "
		"'perf::PAGE-FAULTS'\n"
		"@let X 2 what it is\n@let X 1.5e1\nc = a * X\n"
		"@check b + 1 <= instructions \"not so\"\n@check b ~ c \"or so\"\n"
		"@columns instructions \"instr uctions\" | a \"L1D\"\n@mark a "
		"instructions\n"
		"@long\none # kept\n\n  two\n@end\n",
		error, sizeof(error));

	is_string(error, "", "a sound group has no error");
	if (!ok(group != NULL, "and parses"))
		return;
	is_string(group->name, "mine", "name");
	is_string(group->title, "What I look at", "title, without its comment");
	is_int((long long)group->nwant, 2, "@want adds up");
	is_string(group->want[0], "perf::PAGE-FAULTS", "an event is a quantity");
	is_string(group->metrics[0].unit, "1/kinstr", "unit");
	is_string(group->metrics[1].unit, "", "no unit");
	is_string(group->columns[0].heading, "instr uctions", "heading");
	is_string(group->columns[1].name, "a", "second column");
	is_int((long long)group->nmarks, 2, "two marks");
	is_string(group->marks[0], "a", "the first one");
	is_string(group->marks[1], "instructions", "and what else");
	is_int((long long)group->nlets, 1, "one constant");
	ok(group->lets[0].value == 15, "of its last value");
	is_string(group->lets[0].meaning, "what it is", "and its first meaning");
	ok(group->nchecks == 2 && !group->checks[0].about && group->checks[1].about,
		"two checks");
	is_string(group->checks[0].message, "not so", "with a message");
	is_string(group->checks[0].left_text, "b + 1", "and its sides");
	is_string(
		group->description, "one # kept\n\n  two\n", "the long text is verbatim");
}

static void test_find(void)
{
	char error[300], path[] = "/tmp/output_group_XXXXXX";
	const struct cp_group *group;
	int fd = mkstemp(path);

	for (const char *const *name = cp_group_names(&arena); *name; name++) {
		group = cp_group_find(&arena, *name, error, sizeof(error));
		ok(group && strcmp(group->name, *name) == 0 && *group->title &&
				group->ncolumns,
			"group %s is sound%s%s", *name, group ? "" : ": ",
			group ? "" : error);
	}
	ok(!cp_group_find(&arena, "cahce", error, sizeof(error)), "a misspelt name");
	is_string(error, "there is no group \"cahce\": did you mean \"cache\"?",
		"gets the nearest");
	dprintf(fd, HEAD);
	close(fd);
	group = cp_group_find(&arena, path, error, sizeof(error));
	is_string(group ? group->name : error, "g", "a path is read from disk");
	unlink(path);
	ok(!cp_group_find(&arena, path, error, sizeof(error)) && strstr(error, path) &&
			strstr(error, "no such file"),
		"%s", error);
	ok(!cp_group_find(&arena, "/dev/zero", error, sizeof(error)), "%s", error);
	ok(!cp_group_find(&arena, "/tmp", error, sizeof(error)), "%s", error);
}

static bool is_raw_counter(const char *name)
{
	static const char *const names[] = {
#define X(counter, meaning) #counter,
		CP_SIM_COUNTERS (X)
#undef X
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct count {
	const char *pmu;
	size_t presets, nameless, strange;
};

static bool check_preset(void *context, const struct cp_preset *preset)
{
	struct count *count = context;

	count->presets++;
	count->nameless += !*preset->meaning;
	for (size_t i = 0; i < preset->nalternatives; i++)
		for (size_t j = 0; j < preset->alternatives[i].nterms; j++) {
			const char *event = preset->alternatives[i].terms[j].event;

			count->strange +=
				strcmp(count->pmu, "sim") == 0
					? !is_raw_counter(event)
					: !strstr(event, "::") &&
						  strncmp(event, "sysfs:", 6) != 0;
		}
	return true;
}

static void check_pmu(const char *pmu)
{
	struct count count = {.pmu = pmu};
	int result = cp_preset_each(&arena, pmu, check_preset, &count);

	ok(result == 0 && count.presets > (cp_preset_is_socket(pmu) ? 0 : 10) &&
			!count.nameless && !count.strange,
		"%s: %zu presets, %zu without a meaning, %zu terms that are no event",
		pmu, count.presets, count.nameless, count.strange);
}

static void test_preset_files(void)
{
	size_t files = 0;

	for (const struct cp_embedded *file = cp_embedded_files; file->name; file++) {
		const char *line = strstr(file->text, "\n@pmu ");
		char pmus[400], *rest = pmus, *pmu;

		if (!line)
			continue;
		files++;
		sscanf(line + 6, "%399[^\n]", pmus);
		while ((pmu = strsep(&rest, " ")))
			check_pmu(pmu);
	}
	ok(files > 30, "%zu preset files", files);
}

static void test_presets(void)
{
	struct cp_preset preset;

	is_int(cp_preset_lookup(&arena, "skx", "l1d_misses", &preset), 0,
		"a preset of Skylake");
	is_string(preset.alternatives[0].terms[0].event, "skx::L1D:REPLACEMENT",
		"with its PMU");
	is_int(cp_preset_lookup(&arena, "snb", "l2_reads", &preset), 0,
		"one that subtracts or not");
	is_int(cp_preset_lookup(&arena, "sim", "data_refs", &preset), 0,
		"data_refs of the model");
	is_int((long long)preset.alternatives[0].nterms, 3, "has three terms");
	is_int(preset.alternatives[0].terms[2].sign, -1, "the last is subtracted");
	is_string(preset.alternatives[0].terms[2].event, "l1d_rmw", "and has no prefix");
	is_int(cp_preset_lookup(&arena, "perf", "l1d_accesses", &preset), 0,
		"a generic preset");
	is_int((long long)preset.nalternatives, 2, "has an alternative");
	is_int(cp_preset_lookup(&arena, "sim", "uops_retired", &preset), -ENOENT,
		"a preset that the model does not have");
	is_int(cp_preset_lookup(&arena, "z80", "cycles", &preset), -ENOENT,
		"an unknown PMU");
	ok(cp_preset_known("l2_writebacks") && !cp_preset_known("l2_writeback"),
		"known or not");
	is_int(cp_preset_lookup(&arena, "skx", "l1d_load_misses", &preset), 0,
		"one with a note");
	is_string(preset.note, "does not include FB_HIT: misses = L1_MISS + FB_HIT",
		"which is the comment above it");
	is_int(preset.includes, CP_INCLUDES_LOADS, "and counts loads only");
	is_int(cp_preset_lookup(&arena, "skx_unc_imc3", "imc_reads", &preset), 0,
		"a preset of a memory controller");
	is_int(preset.includes, CP_INCLUDES_SOCKET, "is the socket's");
	is_int(cp_preset_line("arm_n2"), 64, "line of a PMU");
	is_int(cp_preset_line("z80"), 0, "line of an unknown one");
}

static long long counters(const char *pmu, const char *event)
{
	uint32_t mask = 99;
	int error = cp_preset_counters(pmu, event, &mask);

	return error ? error : (long long)mask;
}

static void test_counters(void)
{
	is_int(counters("skl", "L1D:REPLACEMENT"), 0xf, "any of Skylake's four");
	is_int(counters("skl", "skl::INST_RETIRED:ANY_P"), 0, "one of its own");
	is_int(counters("icl", "icl::L2_RQSTS:0x3f"), 0xf, "four of eight, by base name");
	is_int(counters("icl", "LONGEST_LAT_CACHE:MISS"), 0xff, "any of eight");
	is_int(counters("core", "MEM_LOAD_RETIRED:L1D_MISS"), 1, "the first only");
	is_int(counters("power9", "power9::PM_LD_MISS_L1_ALT"), 0x10, "PMC4");
	is_int(counters("power9", "power9::PM_LD_MISS_L1"), 8,
		"a name is not the beginning of another");
	is_int(counters("apple_m1", "sysfs:apple_firestorm_pmu/event=0x8c/"), 0x82,
		"a list of counters");
	is_int(counters("netburst", "x"), -ENOENT, "not known");
	is_int(counters("z80", "x"), -ENOENT, "nor is that PMU");
}

static void test_pmus(void)
{
	const char *const *pmus = cp_preset_pmus(&arena), *const * beside;
	size_t count = 0;

	while (pmus[count])
		count++;
	ok(count >= 80, "%zu PMUs", count);
	beside = cp_preset_beside(&arena, "spr");
	ok(beside[0] && strcmp(beside[0], "spr_unc_imc") == 0 && !beside[1],
		"the memory controllers are beside the cores");
	ok(!cp_preset_beside(&arena, "arm_n1")[0], "or nothing is");
}

int main(void)
{
	plan_lazy();
	test_mistakes();
	test_parse();
	test_find();
	test_preset_files();
	test_presets();
	test_counters();
	test_pmus();
	cp_arena_free(&arena);
	return 0;
}
