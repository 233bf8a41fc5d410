/* SPDX-License-Identifier: MIT
 *
 * Which machine file is of a processor, and what the host takes from it and from CPUID.
 */
#include <string.h>

#include "base/embedded.h"
#include "base/machine/clock.h"
#include "base/machine/features.h"
#include "base/machine/host.h"
#include "base/machine/known.h"
#include "base/text.h"
#include "tests/tap/tap.h"
#include "tests/unit/cpuid_dumps_amd.h"
#include "tests/unit/cpuid_dumps_intel.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define OF(name) name, COUNT(name)

/* ---- the lines of files ---- */

static const struct cp_processor zen4_here = {"AuthenticAMD", 25, 17, 0, false, 0, 0};

static const char *file_of(const struct cp_processor *processor)
{
	char error[200];
	const struct cp_embedded *file =
		cp_known_find(cp_embedded_files, processor, error, sizeof(error));

	if (*error)
		diag("%s", error);
	return *error ? "" : file ? file->name : NULL;
}

/* A file of each processor, or none. */
static unsigned twice(const char *vendor, uint32_t family, uint32_t first, uint32_t last)
{
	unsigned bad = 0;

	for (uint32_t model = first; model <= last; model++)
		for (uint32_t stepping = 0; stepping < 16; stepping++) {
			struct cp_processor processor = {
				.family = family, .model = model, .stepping = stepping};
			const char *file;

			strcpy(processor.vendor, vendor);
			file = file_of(&processor);
			bad += file && !*file;
		}
	return bad;
}

static void test_shipped(void)
{
	static const struct {
		struct cp_processor processor;
		const char *file;
	} known[] = {
		{{"AuthenticAMD", 23, 49, 0, false, 0, 0}, "zen2.machine"},
		{{"AuthenticAMD", 25, 1, 0, false, 0, 0}, "zen3.machine"},
		{{"AuthenticAMD", 25, 17, 0, false, 0, 0}, "zen4.machine"},
		{{"AuthenticAMD", 25, 97, 0, false, 0, 0}, "zen4.machine"},
		{{"AuthenticAMD", 26, 2, 0, false, 0, 0}, "zen5.machine"},
		{{"GenuineIntel", 6, 15, 0, false, 0, 0}, "core2duo.machine"},
		{{"GenuineIntel", 6, 26, 0, false, 0, 0}, "nehalem.machine"},
		{{"GenuineIntel", 6, 45, 0, false, 0, 0}, "sandy-bridge.machine"},
		{{"GenuineIntel", 6, 58, 0, false, 0, 0}, "ivy-bridge.machine"},
		{{"GenuineIntel", 6, 60, 0, false, 0, 0}, "haswell.machine"},
		{{"GenuineIntel", 6, 44, 2, false, 0, 0}, "westmere.machine"},
		{{"GenuineIntel", 6, 79, 1, false, 0, 0}, "broadwell.machine"},
		{{"GenuineIntel", 6, 85, 0, false, 0, 0}, "skylake-sp.machine"},
		{{"GenuineIntel", 6, 85, 4, false, 0, 0}, "skylake-sp.machine"},
		{{"GenuineIntel", 6, 85, 5, false, 0, 0}, "cascade-lake.machine"},
		{{"GenuineIntel", 6, 85, 7, false, 0, 0}, "cascade-lake.machine"},
		{{"GenuineIntel", 6, 126, 5, false, 0, 0}, "ice-lake.machine"},
		{{"GenuineIntel", 6, 140, 1, false, 0, 0}, "tiger-lake.machine"},
		{{"GenuineIntel", 6, 151, 2, false, 0, 0}, "alder-lake.machine"},
		{{"AuthenticAMD", 23, 1, 1, false, 0, 0}, "zen1.machine"},
		{{"AuthenticAMD", 23, 8, 2, false, 0, 0}, "zen-plus.machine"},
		{{"Arm", 0x41, 0xd40, 0, false, 0, 0}, "neoverse-v1.machine"},
		{{"Arm", 0x41, 0xd84, 0, false, 0, 0}, "neoverse-v3.machine"},
		{{"Arm", 0xc0, 0xac3, 0, false, 0, 0}, "ampereone.machine"},
		{{"Arm", 0x61, 0x43, 0, false, 0, 0}, "apple-m3.machine"},
		{{"GenuineIntel", 6, 94, 0, false, 0, 0}, "skylake.machine"},
		{{"GenuineIntel", 6, 165, 0, false, 0, 0}, "skylake.machine"},
		{{"GenuineIntel", 6, 106, 0, false, 0, 0}, "ice-lake-sp.machine"},
		{{"GenuineIntel", 6, 143, 0, false, 0, 0}, "sapphire-rapids.machine"},
		{{"GenuineIntel", 6, 207, 0, false, 0, 0}, "emerald-rapids.machine"},
		{{"GenuineIntel", 6, 173, 0, false, 0, 0}, "granite-rapids.machine"},
		{{"Arm", 0x41, 0xd0c, 0, false, 0, 0}, "neoverse-n1.machine"},
		{{"Arm", 0x41, 0xd49, 0, false, 0, 0}, "neoverse-n2.machine"},
		{{"Arm", 0x6d, 0xd49, 0, false, 0, 0}, "cobalt-100.machine"},
		{{"Arm", 0x41, 0xd4f, 0, false, 0, 0}, "neoverse-v2.machine"},
		{{"Arm", 0x61, 0x23, 0, false, 0, 0}, "apple-m1.machine"},
		{{"GenuineIntel", 6, 183, 0, false, 0, 0}, NULL},
		{{"HygonGenuine", 25, 17, 0, false, 0, 0}, NULL},
		{{"AuthenticAMD", 6, 17, 0, false, 0, 0}, NULL},
		{{"", 0, 0, 0, false, 0, 0}, NULL},
	};

	for (size_t i = 0; i < COUNT(known); i++)
		is_string(file_of(&known[i].processor), known[i].file, "%s %u %u",
			known[i].processor.vendor, known[i].processor.family,
			known[i].processor.model);
	is_int(twice("GenuineIntel", 6, 0, 255), 0, "no Intel has two files");
	for (uint32_t family = 23; family <= 26; family++)
		is_int(twice("AuthenticAMD", family, 0, 255), 0,
			"nor has an AMD of family %u", family);
	is_int(twice("Arm", 0x41, 0xd00, 0xdff), 0, "nor has an Arm");
	is_int(twice("Arm", 0x61, 0, 0x7f), 0, "nor has an Apple");
}

/* ---- mistakes ---- */

static void test_mistakes(void)
{
	static const struct {
		const char *first, *second, *error;
	} cases[] = {
		{"cpuid = AuthenticAMD 25 1\n", "# two\ncpuid = AuthenticAMD 25 0-31\n",
			"b.machine:2: names a processor that a.machine:1 names as well: "
			"leave it to one of them"},
		{"cpuid = AuthenticAMD 25\n", "",
			"a.machine:1: cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]..."},
		{"\n\ncpuid = AuthenticAMD x 1\n", "",
			"a.machine:3: cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]..."},
		{"cpuid = AuthenticAMD 25 1 9-2\n", "",
			"a.machine:1: cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]...: 9-2"},
		{"cpuid = AuthenticAMD 25 1/\n", "",
			"a.machine:1: cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]...: 1/"},
		{"midr = 0x41 0xd0c/1\n", "",
			"a.machine:1: midr = IMPLEMENTER PART[-PART]...: 0xd0c/1"},
		{"cpuid = AuthenticAMD 25 70000\n", "",
			"a.machine:1: cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]...: 70000"},
		{"cpuid = AMD 25 1\n", "",
			"a.machine:1: the vendor must be AuthenticAMD, GenuineIntel or "
			"HygonGenuine: AMD"},
		{"cpuid =\n", "",
			"a.machine:1: the vendor must be AuthenticAMD, GenuineIntel or "
			"HygonGenuine"},
		{"midr = 0x41\n", "", "a.machine:1: midr = IMPLEMENTER PART[-PART]..."},
		{"midr = Arm 0xd0c\n", "",
			"a.machine:1: midr = IMPLEMENTER PART[-PART]..."},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cp_embedded files[] = {{"a.machine", cases[i].first},
			{"b.machine", cases[i].second}, {NULL, NULL}};
		char error[200], parsed[200];
		struct cp_machine machine = cp_machine_defaults;
		struct cp_processor processor = {"AuthenticAMD", 25, 1, 0, false, 0, 0};

		ok(!cp_known_find(files, &processor, error, sizeof(error)),
			"no file is found");
		is_string(error, cases[i].error, "and that is why");
		if (*cases[i].second)
			continue;
		cp_machine_parse(
			&machine, "a.machine", cases[i].first, parsed, sizeof(parsed));
		is_string(parsed, error, "the machine's reader says the same");
	}
}

/* ---- the host ---- */

/* As sysfs tells a Zen 4's caches. */
static struct cp_machine from_sysfs(void)
{
	struct cp_machine machine = cp_machine_defaults;

	machine.cores = 4;
	machine.level[CP_LLC] = (struct cp_cache){.sets = 16384, .ways = 16, .line = 64};
	return machine;
}

static struct cp_machine recognised_as(const struct cp_processor *processor,
	const struct cp_cpuid_leaf *leaves, size_t count, bool plain)
{
	struct cp_machine machine = from_sysfs();
	struct cp_cpuid cpuid = {leaves, count};
	struct cp_cpuid_told told;

	cp_cpuid_decode(&cpuid, &told);
	cp_machine_recognise(&machine, processor, &told, cp_embedded_files, plain);
	return machine;
}

static struct cp_machine recognised(const struct cp_processor *processor,
	const struct cp_cpuid_leaf *leaves, size_t count)
{
	return recognised_as(processor, leaves, count, false);
}

static unsigned entries(const struct cp_machine *machine, enum cp_level level)
{
	return machine->level[level].sets * machine->level[level].ways;
}

static void test_zen4(void)
{
	struct cp_machine host = recognised(&zen4_here, OF(genoa)), file;
	struct cp_processor faster = zen4_here;
	char text[600];

	is_int(cp_machine_find(&file, "zen4", text, sizeof(text)), 0, "zen4");
	is_string(host.name, "host", "its name stays");
	is_string(host.note, "policies, prefetchers, latencies, time of zen4",
		"and what is whose is said");
	is_int(host.cores, 4, "cores are the host's");
	is_int(entries(&host, CP_LLC), 16384 * 16, "so are sizes");
	is_int(host.level[CP_LLC].latency, file.level[CP_LLC].latency, "latency of L3");
	is_int(host.memory_latency, file.memory_latency, "of memory");
	is_int(host.ooo.window, file.ooo.window, "and what time hangs on");
	ok(cp_machine_tells_time(&host, text, sizeof(text)), "time is told");
	is_int(entries(&host, CP_DTLB), 72, "DTLB");
	is_int(entries(&host, CP_STLB), 0, "no second level of TLBs for all");
	is_int(entries(&host, CP_DTLB2), 3072, "one for data");
	is_int(host.level[CP_DTLB2].ways, 24, "with the ways that AMD documents");
	is_int(host.level[CP_DTLB2].latency, 7, "and a latency");
	is_int(entries(&host, CP_ITLB2), 512, "and one for code");
	is_int(host.level[CP_LLC].inclusion, CP_EXCLUSIVE, "L3 has what L2 evicts");
	is_int(host.level[CP_L1D].prefetch[1].kind, CP_IP_STRIDE, "prefetchers");
	is_u64(host.assumed & ~file.assumed,
		1ull << CP_OF_L3 | 1ull << CP_OF_MEMORY | 1ull << CP_ASSUMED_CLOCK,
		"what differs between processors of one core is assumed");
	is_string(host.pmu, "", "it answers to no other names of events");
	is_int(host.clock_mhz, file.clock_mhz, "the clock is the file's");
	faster.mhz = 4321;
	host = recognised(&faster, OF(genoa));
	is_int(host.clock_mhz, 4321, "unless the processor tells it");
	ok(host.assumed & 1ull << CP_ASSUMED_CLOCK, "which is assumed, too");
}

/* A hypervisor hides leaf 8000001DH, and its kernel has no caches for sysfs; where CPUID
 * has nothing either, all caches are the file's. */
static void test_hidden(void)
{
	static const struct cp_cpuid_leaf leaves[] = {
		{0x80000005u, 0, {0xff60ff40u, 0xff60ff40u, 0x300c0140u, 0x20080140u}},
		{0x80000006u, 0, {0x40802040u, 0x60804040u, 0x04006140u, 0x0fe09140u}}};
	static const struct cp_processor zen5 = {"AuthenticAMD", 26, 2, 0, true, 0, 0};
	struct cp_cpuid cpuid = {leaves, COUNT(leaves)};
	struct cp_machine host = {.name = "host", .page = 4096, .cores = 2};
	struct cp_cpuid_told told = {.kind = 0};

	cp_cpuid_decode_amd(&cpuid, &told);
	is_int(told.level[CP_LLC].told, CP_UNTOLD, "ways of 9: another leaf has the L3");
	is_int(told.level[CP_L2].ways, 8, "the older leaf's ways of L2");
	for (int level = CP_L1I; level <= CP_L2; level++)
		host.level[level] = (struct cp_cache){.sets = told.level[level].sets,
			.ways = told.level[level].ways,
			.line = told.level[level].line};
	cp_machine_recognise(&host, &zen5, &told, cp_embedded_files, false);
	is_int(entries(&host, CP_LLC), 32 << 14, "the L3 is the file's");
	is_int(host.level[CP_L2].ways, 16, "L2 of as many bytes has the file's ways");
	is_string(host.note, "policies, prefetchers, latencies, time, L3 of zen5",
		"and it is said");
	host = (struct cp_machine){.name = "host", .page = 4096, .cores = 2};
	host.level[CP_L1D] = (struct cp_cache){.sets = 64, .ways = 12, .line = 64};
	cp_machine_recognise(&host, &zen5, &told, cp_embedded_files, false);
	is_string(host.note, "policies, prefetchers, latencies, time, L2, L3 of zen5",
		"so is L2");
	host = (struct cp_machine){.name = "host", .page = 4096, .cores = 2};
	cp_machine_recognise(&host, &zen5, &told, cp_embedded_files, false);
	is_int(entries(&host, CP_L1D), 768, "all caches are the file's");
	is_string(host.note, "policies, prefetchers, latencies, time, caches of zen5",
		"and that is said");
	host = (struct cp_machine){.name = "host", .page = 4096, .cores = 2};
	cp_machine_recognise(&host, &zen5, &told, cp_embedded_files, true);
	is_string(host.note, "latencies, time, caches of zen5; " CP_PLAIN_CHOSEN,
		"of the plain host neither policies nor prefetchers");
}

static struct cp_machine alike(
	const struct cp_processor *processor, uint32_t code_sets, uint32_t code_ways)
{
	static const struct cp_cpuid_told told;
	struct cp_machine host = {.name = "host", .page = 4096, .cores = 2};

	host.level[CP_L1I] =
		(struct cp_cache){.sets = code_sets, .ways = code_ways, .line = 64};
	host.level[CP_L1D] = (struct cp_cache){.sets = 64, .ways = 12, .line = 64};
	host.level[CP_L2] = (struct cp_cache){.sets = 2048, .ways = 16, .line = 64};
	host.level[CP_LLC] = (struct cp_cache){.sets = 491520, .ways = 16, .line = 64};
	cp_machine_recognise(&host, processor, &told, cp_embedded_files, false);
	return host;
}

/* A hypervisor tells the model of a processor that has neither these caches nor AMX. */
static void test_alike(void)
{
	static const char granite[] = "policies, prefetchers, latencies, time of "
				      "granite-rapids; chosen by its caches and features";
	static const char nobody[] =
		"LRU and non-inclusive caches assumed; TLB sizes assumed";
	struct cp_processor processor = {"GenuineIntel", 6, 167, 1, true, 0,
		cp_features_named("x86-64-v4") | cp_features_named("amx_tile")};
	struct cp_machine host = alike(&processor, 64, 16);

	is_string(host.note, granite, "the one whose caches and features they are");
	is_int(entries(&host, CP_LLC), 491520 * 16, "the L3 is the host's");
	is_int(entries(&host, CP_STLB), 2048, "TLBs that CPUID hides are the file's");
	is_string(alike(&processor, 64, 12).note, nobody, "no other caches");
	processor.features |= cp_features_named("clzero");
	is_string(alike(&processor, 64, 16).note, nobody,
		"none that executes less than this one");
	processor.features = 0;
	is_string(alike(&processor, 64, 16).note, granite, "features may be hidden");
	is_string(alike(&processor, 64, 8).note, nobody, "nobody, if several are alike");
	processor.is_virtual = false;
	is_string(alike(&processor, 64, 16).note, nobody,
		"nor what is no guest, whose model holds");
}

/* With other sizes than the file's, a tree wants a power of two; measured caches get
 * policies, and what they say themselves holds. */
static void test_policies(void)
{
	struct cp_machine file = cp_machine_defaults, to = cp_machine_defaults;

	file.level[CP_L2] = (struct cp_cache){.sets = 1024,
		.ways = 16,
		.line = 64,
		.policy = CP_PLRU,
		.inclusion = CP_INCLUSIVE,
		.latency = 14};
	to.level[CP_L2] =
		(struct cp_cache){.sets = 1024, .ways = 20, .line = 64, .latency = 15};
	ok(cp_machine_take_policies(&to, &file), "they are taken");
	is_int(to.level[CP_L2].policy, CP_LRU, "no tree of 20 ways");
	is_int(to.level[CP_L2].ways, 20, "sizes stay");
	is_int(to.level[CP_L2].inclusion, CP_INCLUSIVE, "inclusion comes");
	is_int(to.level[CP_L2].latency, 15, "latencies stay");
	ok(!cp_machine_take_policies(&to, &file), "once");
}

/* CPUID's sizes hold where the file has others, and hold without a file. */
static void test_sizes(void)
{
	static const struct cp_processor spr = {"GenuineIntel", 6, 143, 0, false, 0, 0},
					 raptor = {
						 "GenuineIntel", 6, 183, 0, false, 0, 0};
	struct cp_machine host = recognised(&spr, OF(sapphirerapids));
	char missing[160];

	is_int(entries(&host, CP_DTLB), 64, "sapphire-rapids has 96, CPUID tells 64");
	is_int(entries(&host, CP_STLB_2M), 1024, "2 MB pages have half of the STLB");
	host = recognised(&raptor, OF(raptorlake_e));
	is_int(entries(&host, CP_DTLB), 48, "no file, but CPUID: DTLB");
	is_int(entries(&host, CP_STLB), 2048, "STLB");
	ok(!cp_machine_tells_time(&host, missing, sizeof(missing)), "no time");
	is_string(host.note,
		"LRU and non-inclusive caches assumed; TLBs of an efficient core",
		"a hybrid's core is named");
	host = recognised(&raptor, OF(raptorlake_p));
	is_string(host.note,
		"this core is of another kind than the first; "
		"LRU and non-inclusive caches assumed; TLB sizes assumed",
		"CPUID is of another core than sysfs");
	is_int(entries(&host, CP_DTLB), 64, "and tells no TLB");
	host = recognised(&raptor, NULL, 0);
	is_string(host.note, "LRU and non-inclusive caches assumed; TLB sizes assumed",
		"neither: assumed");
	is_int(entries(&host, CP_STLB), 1536, "with the default");
	host = recognised(&(struct cp_processor){"GenuineIntel", 6, 85, 0, false, 0, 0},
		OF(skylakex));
	ok(host.assumed & 1ull << CP_OF_NEAR_CACHE,
		"skylake-sp: another core's line, too");
	is_int(host.level[CP_STLB].ways, 12, "Intel documents 12 ways, CPUID tells 6");
	host = recognised(
		&(struct cp_processor){"GenuineIntel", 6, 106, 0, false, 0, 0}, OF(icx));
	is_int(entries(&host, CP_ITLB), 128, "CPUID tells no ITLB, the file does");
	host = recognised(&raptor, OF(icelakey));
	is_string(host.note, "LRU and non-inclusive caches assumed; ITLB size assumed",
		"CPUID tells no ITLB, and there is no file");
	host = recognised(&(struct cp_processor){"GenuineIntel", 6, 26, 0, false, 0, 0},
		OF(nehalem));
	ok(host.level[CP_STLB_2M].absent, "an STLB of small pages only");
}

/* Whatever is found fits together, and is plain for samples and sweeps. */
static void test_plain(void)
{
	static const struct {
		const char *name;
		const struct cp_cpuid_leaf *leaves;
		size_t count;
	} all[] = {
#define ROW(name) {#name, name, COUNT(name)}
		ROW(turin), ROW(turind), ROW(graniteridge), ROW(genoa), ROW(bergamo),
		ROW(raphael), ROW(milan), ROW(vermeer), ROW(cezanne), ROW(rome),
		ROW(matisse), ROW(strixpoint_0), ROW(strixpoint_1), ROW(abudhabi),
		ROW(bristolridge), ROW(barcelona), ROW(hygon), ROW(graniterapids),
		ROW(emeraldrapids), ROW(sapphirerapids), ROW(lunarlake_p),
		ROW(lunarlake_e), ROW(arrowlake_p), ROW(arrowlake_e), ROW(pantherlakel_p),
		ROW(pantherlakel_e), ROW(raptorlake_p), ROW(raptorlake_e), ROW(alderlake),
		ROW(meteorlake_p), ROW(meteorlake_e), ROW(meteorlake_low), ROW(icx),
		ROW(icelakey), ROW(tigerlake), ROW(cascadelakesp), ROW(skylakex),
		ROW(skylake), ROW(broadwell), ROW(haswell), ROW(ivybridgews),
		ROW(sandybridge), ROW(nehalem), ROW(conroe), ROW(penryn), ROW(goldmont)};

	for (size_t i = 0; i < COUNT(all); i++) {
		struct cp_cpuid cpuid = {all[i].leaves, all[i].count};
		struct cp_cpuid_told told;
		struct cp_processor processor = {.family = 0};
		struct cp_machine host;
		const char *how = NULL;

		cp_cpuid_decode(&cpuid, &told);
		memcpy(processor.vendor, told.vendor, sizeof(told.vendor));
		processor.family = told.family;
		processor.model = told.model;
		host = recognised(&processor, all[i].leaves, all[i].count);
		ok(!strstr(host.note, "not recognised"), "%s fits: %s", all[i].name,
			host.note);
		host = recognised_as(&processor, all[i].leaves, all[i].count, true);
		ok(!strstr(host.note, "policies"), "%s plain: %s", all[i].name,
			host.note);
		for (int level = 0; level < CP_NLEVELS && !how; level++)
			if (host.level[level].sets)
				how = cp_machine_unlike_plain(
					&host, (enum cp_level)level);
		is_string(how, NULL, "%s: %s", all[i].name, host.note);
	}
}

/* ---- a part of the last level ---- */

static struct cp_machine of_zen5(void)
{
	const struct cp_processor zen5 = {
		.vendor = "AuthenticAMD", .family = 26, .model = 2};
	static const struct cp_cpuid_told nothing;
	struct cp_machine host = cp_machine_defaults;

	memset(host.level, 0, CP_ITLB * sizeof(host.level[0]));
	host.cores = 2;
	cp_machine_recognise(&host, &zen5, &nothing, cp_processor_files(), false);
	return host;
}

/* Its kibibytes, with so many processors. */
static uint64_t part_of(struct cp_machine *host, uint32_t cores)
{
	const struct cp_cache *llc = &host->level[CP_LLC];

	*host = of_zen5();
	host->cores = cores;
	cp_machine_share_llc(host);
	return (uint64_t)llc->sets * llc->ways * llc->line / 1024;
}

static void test_part(void)
{
	struct cp_machine host = of_zen5();

	is_u64(host.llc_threads, 16, "eight cores of two threads have it");
	is_u64(host.assumed >> CP_ASSUMED_LLC_SIZE & 1, 0, "all of it is no assumption");
	is_u64(part_of(&host, 2), 11520, "two: between 4 and 32 MiB");
	ok(host.assumed >> CP_ASSUMED_LLC_SIZE & 1, "which is assumed");
	ok(strstr(host.note, "; a virtual machine: 11.25 of 32 MiB of L3 assumed"),
		"and said: %s", host.note);
	is_u64(part_of(&host, 4), 16384, "four: between 8 and 32 MiB");
	is_u64(part_of(&host, 16), 32768, "all of them: all of it");
	ok(!(host.assumed >> CP_ASSUMED_LLC_SIZE & 1), "is not assumed");
	ok(strstr(host.note, "; a virtual machine: its share of the L3 is unknown"),
		"nor known: %s", host.note);
	host = cp_machine_defaults;
	host.cores = 1;
	cp_machine_share_llc(&host);
	is_u64(host.level[CP_LLC].sets, cp_machine_defaults.level[CP_LLC].sets,
		"of a processor that no file names it is not known");
}

/* ---- /proc/cpuinfo ---- */

static void test_cpuinfo(void)
{
	struct cp_processor processor;

	cp_processor_read(&processor,
		"processor\t: 0\nvendor_id\t: GenuineIntel\n"
		"cpu family\t: 6\nmodel\t\t: 143\n"
		"model name\t: Intel(R) Xeon(R)\n"
		"cpu MHz\t\t: 2699.998\n"
		"flags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\n");
	is_string(processor.vendor, "GenuineIntel", "x86: its vendor");
	is_int(processor.family, 6, "family");
	is_int(processor.model, 143, "model, which is not its name");
	ok(processor.is_virtual, "a virtual machine");
	is_int(processor.mhz, 2699, "its clock");
	cp_processor_read(&processor, "vendor_id\t: GenuineIntel\ncpu MHz\t\t: 800.017\n"
				      "flags\t\t: fpu lahf_lm\n");
	is_int(processor.mhz, 0, "elsewhere it is that of this moment");
	cp_processor_read(&processor, "processor\t: 0\nBogoMIPS\t: 50.00\n"
				      "CPU implementer\t: 0x41\nCPU architecture: 8\n"
				      "CPU variant\t: 0x0\nCPU part\t: 0xd4f\n");
	is_string(processor.vendor, "Arm", "aarch64");
	is_int(processor.family, 0x41, "implementer");
	is_int(processor.model, 0xd4f, "part");
	ok(!processor.is_virtual, "nothing tells a virtual machine there");
	cp_processor_read(&processor, "");
	is_string(processor.vendor, "", "nothing");
}

static void test_clock(void)
{
	is_int(cp_clock_of_chain(2096, 16190), 3700, "60,000 cycles, in steps of 50 MHz");
	is_int(cp_clock_of_chain(2096, 60000), 2096, "slower than the TSC: disturbed");
	is_int(cp_clock_of_chain(2096, 0), 2096, "not measured");
	is_int(cp_clock_of_chain(2096, 100), 2096, "nothing is as fast as that");
}

/* Within a fifth: it is measured twice. */
static void test_clock_here(void)
{
	struct cp_processor here, told;
	struct cp_machine host = cp_machine_defaults;
	char text[8192];
	uint32_t mhz;

	cp_machine_host(&host, false);
	if (cp_processor_here(&here) || !host.clock_mhz ||
		!cp_read_file("/proc/cpuinfo", text, sizeof(text))) {
		skip(2, "another clock is told, or none is known");
		return;
	}
	cp_processor_read(&told, text);
	mhz = cp_clock_here(told.mhz);
	cp_machine_host(&host, false);
	ok(host.clock_mhz >= told.mhz && 6 * host.clock_mhz > 5 * mhz,
		"a virtual machine's: %u, %u", host.clock_mhz, mhz);
	cp_clock_measure_nothing();
	cp_machine_host(&host, false);
	is_int(host.clock_mhz, told.mhz, "runs that are the same anywhere measure none");
}

/* An emulator's CPUID is not the processor's. */
static void test_emulated(void)
{
	struct cp_processor processor;
	struct cp_cpuid_told told;

	cp_processor_here(&processor);
	processor.model++;
	cp_processor_told(&processor, &told);
	ok(told.level[CP_DTLB].told == CP_UNTOLD && told.level[CP_DTLB].why,
		"another processor's CPUID: %s", told.level[CP_DTLB].why);
}

int main(void)
{
	plan_lazy();
	test_shipped();
	test_mistakes();
	test_zen4();
	test_hidden();
	test_alike();
	test_policies();
	test_sizes();
	test_plain();
	test_part();
	test_cpuinfo();
	test_clock();
	test_clock_here();
	test_emulated();
	return 0;
}
