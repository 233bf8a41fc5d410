/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The command line.
 */
#include "machine_options.h"
#include "system/limits.h"
#include "model/ahead.h"
#include "native/native.h"
#include "profile/profile.h"
#include "sample/sample.h"
#include "stop.h"

struct tool_options tool_options = {
	.paths_limit = CP_PROFILE_PATHS,
	.huge = True,
	.native = True,
	.hosted_flush = True,
	.asks_cpuid = True,
};

void refuse_option(const HChar *name, const HChar *why)
{
	stop(2, "%s: %s", name, why);
}

Bool parse_numbers(const HChar **at, HChar separator, ULong *out, UInt n)
{
	const HChar *s = *at;

	for (UInt i = 0; i < n; i++) {
		HChar *end;

		if ((i && *s++ != separator) || !VG_(isdigit)(*s))
			return False;
		out[i] = (ULong)VG_(strtoll10)(s, &end);
		s = end;
	}
	*at = s;
	return True;
}

Bool option_has_value(const HChar *arg, const struct option_value *rows)
{
	for (; rows->name; rows++) {
		UInt length = VG_(strlen)(rows->name);

		if (VG_(strncmp)(arg, rows->name, length) == 0) {
			rows->parse(arg + length);
			return True;
		}
	}
	return False;
}

static void parse_window(const HChar *value)
{
	ULong n;

	if (!parse_numbers(&value, ',', &n, 1) || *value || !n || n > 1000000000)
		refuse_option("--window", "expected a number from 1 to 1000000000");
	tool_options.window = n;
}

static void parse_quantum(const HChar *value)
{
	ULong n;

	if (!parse_numbers(&value, ',', &n, 1) || *value || !n || n > 1000000000)
		refuse_option("--quantum", "expected a number from 1 to 1000000000");
	tool_options.quantum = n;
}

static void parse_sample(const HChar *value)
{
	ULong v[5];

	if (!parse_numbers(&value, ',', v, 5) || *value || !v[0] ||
		v[0] > CP_SIM_GROUPS || !v[2] || v[3] < v[1] + v[2])
		refuse_option("--sample",
			"expected SETS,WARM,BURST,PERIOD,SEED: up to 16 sets, "
			"and the period is longer than the others");
	tool_options.sample = (struct sample_plan){v[0], v[1], v[2], v[3], v[4]};
}

static Bool sweeps_first_level(void)
{
	return tool_options.sweep.npoints && tool_options.sweep.level != SWEEP_L2 &&
	       tool_options.sweep.level != SWEEP_LLC;
}

/* Options that look at each reference need all references. */
static void check_sample(void)
{
	if (!sample_wanted())
		return;
	if (tool_options.timing || sweeps_first_level() || tool_options.paths ||
		tool_options.window || tool_options.sharing || tool_options.line_use ||
		profile_misses_wanted())
		refuse_option("--sample",
			"not with --timing, --sweep of another level than L2 or LLC, "
			"--call-paths, --window, --sharing, --line-use or "
			"--profile-misses, which need every reference: without them, or "
			"without --sample");
	if (!sample_all_groups())
		refuse_option("--sample", "needs LRU caches without prefetchers, an L2, "
					  "and numbers of sets that are multiples of 16");
}

/* FULL,PERIOD,BRANCHES,WARM,UNIT: in how many instructions time is modelled. */
static void parse_time_sample(const HChar *value)
{
	ULong v[5];

	if (!parse_numbers(&value, ',', v, 5) || *value || !v[4] || v[1] % v[4] ||
		v[1] < v[3] + v[4] || v[1] > 1000000000 || v[0] > 4000000000ull ||
		v[2] > 1000000000)
		refuse_option("--time-sample", "expected FULL,PERIOD,BRANCHES,WARM,UNIT");
	batch_told.sample = (struct time_sample){v[0], v[1], v[2], v[3], v[4]};
}

/* LEVEL,SETS:WAYS,... */
static void parse_sweep(const HChar *value)
{
	static const HChar *const names[] = {
		"", "l1i", "l1d", "l2", "llc", "itlb", "dtlb", "stlb"};
	const HChar *end = VG_(strchr)(value, ',');
	ULong v[2];

	for (UInt i = 1; end && i < sizeof(names) / sizeof(names[0]); i++)
		if (VG_(strlen)(names[i]) == (SizeT)(end - value) &&
			VG_(strncmp)(names[i], value, end - value) == 0)
			tool_options.sweep.level = (enum sweep_level)i;
	if (!tool_options.sweep.level)
		refuse_option("--sweep", "expected LEVEL,SETS:WAYS,...");
	while (*end) {
		struct sweep_point *p =
			&tool_options.sweep.point[tool_options.sweep.npoints];

		end++;
		if (tool_options.sweep.npoints++ == CP_SIM_SWEEP_POINTS)
			refuse_option("--sweep", "too many points");
		if (!parse_numbers(&end, ':', v, 2) || (*end && *end != ',') || !v[0] ||
			v[0] > 1u << 24 || !v[1] || v[1] > CACHE_MAX_WAYS)
			refuse_option("--sweep", "expected LEVEL,SETS:WAYS,...");
		p->sets = v[0];
		p->ways = v[1];
	}
}

static void parse_profile(const HChar *value)
{
	tool_options.profile = value;
	tool_options.sites = True;
}

static void parse_paths(const HChar *value)
{
	tool_options.profile = value;
	tool_options.paths = True;
}

static void parse_files(const HChar *value)
{
	ULong n;

	if (!parse_numbers(&value, '\0', &n, 1) || *value || n > 1u << 30)
		refuse_option("--files", "expected a number of descriptors");
	limits_set_soft((Int)n);
}

/* "LEAF.SUBLEAF:EAX:EBX:ECX:EDX,", all in hexadecimal digits. */
static Bool parse_leaf(const HChar **at, struct shown_leaf *l)
{
	static const HChar behind[] = ".::::,";
	UInt *out[] = {&l->leaf, &l->subleaf, &l->output[0], &l->output[1], &l->output[2],
		&l->output[3]};

	for (UInt i = 0; i < 6; i++) {
		HChar *end;
		ULong value = VG_(strtoull16)(*at, &end);

		if (end == *at || *end != behind[i] || value >> 32)
			return False;
		*out[i] = (UInt)value;
		*at = end + 1;
	}
	return True;
}

static void parse_cpu(const HChar *value)
{
	if (VG_STREQ(value, "host")) {
		tool_options.shows_host = True;
		return;
	}
	while (*value)
		if (tool_options.nshown == TOOL_SHOWN_LEAVES ||
			!parse_leaf(&value, &tool_options.shown[tool_options.nshown++]))
			refuse_option("--cpu",
				"expected host, or leaves, as "
				"LEAF.SUBLEAF:EAX:EBX:ECX:EDX, in hexadecimal digits");
}

static const struct option_value values[] = {
	{"--cpu=", parse_cpu},
	{"--files=", parse_files},
	{"--window=", parse_window},
	{"--sample=", parse_sample},
	{"--time-sample=", parse_time_sample},
	{"--quantum=", parse_quantum},
	{"--sweep=", parse_sweep},
	{"--profile=", parse_profile},
	{"--call-paths=", parse_paths},
	{"--profile-misses=", profile_misses_open},
	{NULL, NULL},
};

static const struct {
	const HChar *name;
	Bool *flag;
} flags[] = {
	{"--sharing=", &tool_options.sharing},
	{"--line-use=", &tool_options.line_use},
	{"--report=", &tool_options.report},
	{"--alone=", &tool_options.alone},
	{"--native=", &tool_options.native},
	{"--hosted-flush=", &tool_options.hosted_flush},
	{"--asks-cpuid=", &tool_options.asks_cpuid},
	{"--lines=", &tool_options.lines},
	{"--pieces=", &tool_options.pieces},
	{"--check-blocks=", &tool_options.check_blocks},
	{"--huge-pages=", &tool_options.huge},
};

static Bool parse_flag(const HChar *arg)
{
	for (UInt i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		UInt length = VG_(strlen)(flags[i].name);
		const HChar *value = arg + length;

		if (VG_(strncmp)(arg, flags[i].name, length) != 0)
			continue;
		if (VG_(strcmp)(value, "yes") != 0 && VG_(strcmp)(value, "no") != 0)
			VG_(fmsg_bad_option)
		(arg, "Invalid boolean value '%s' (should be 'yes' or 'no')\n", value);
		*flags[i].flag = *value == 'y';
		return True;
	}
	return False;
}

Bool options_parse(const HChar *arg)
{
	if (VG_STREQ(arg, "--huge-pages=smaps")) {
		tool_options.huge_from_smaps = True;
		return True;
	}
	if (VG_BINT_CLO(arg, "--call-path-nodes", tool_options.paths_limit, 1,
		    CP_PROFILE_PATHS))
		return True;
	return machine_options_parse(arg) || option_has_value(arg, values) ||
	       parse_flag(arg);
}

/* All machines of a run see the same instructions of the program. */
static void check_strings(void)
{
	for (UInt i = 1; i < tool_options.nmachines; i++)
		if (tool_options.machines[i].string_iterations !=
			tool_options.machines[0].string_iterations)
			refuse_option("--next-machine",
				"the machines of one run need the same "
				"--string-instructions");
	tool_options.whole_strings = !tool_options.machines[0].string_iterations;
}

void options_check(void)
{
	machine_options_add();
	machine_options_check_ooo();
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		tool_options.float_loads |= tool_options.machines[i].l1d.fp_bypass;
		tool_options.timing |= tool_options.machines[i].time.memory != 0;
		ahead_want(tool_options.machines[i].time.memory &&
			   tool_options.machines[i].ooo.window);
		if (tool_options.machines[i].line != tool_options.machines[0].line)
			refuse_option("--next-machine",
				"the machines of one run need the same smallest line");
	}
	for (UInt i = 0; i < tool_options.nmachines; i++)
		tool_options.hears_orders |= !tool_options.machines[i].ignores_orders;
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		tool_options.has_front |= !machine_is_plain(&tool_options.machines[i]);
		batch_told.asks_who |= (UInt)machine_asks_who(&tool_options.machines[i]);
	}
	tool_options.machine = tool_options.machines[0];
	check_strings();
	tool_options.native &= native_is_built();
	tool_options.sharing &= tool_options.sites;
	tool_options.line_use &= tool_options.sites;
	check_sample();
}

void options_usage(void)
{
	VG_(printf)
	("    --l1i=SETS,WAYS,LINE --l1d=... --l2=... --llc=...   "
	 "caches [64,8,64 64,8,64\n"
	 "                              1024,16,64 "
	 "8192,16,64]; --l2, --llc 0,0,0: none\n"
	 "    --itlb=SETS,WAYS --dtlb=... --stlb=...   TLBs [16,4 16,4 128,8];\n"
	 "                              --stlb=0,0: none\n"
	 "    --itlb2=... --dtlb2=...   second levels of their own [none]\n"
	 "    --dtlb-2m=... (also itlb-2m, stlb-2m, "
	 "itlb2-2m, dtlb2-2m)   huge pages;\n"
	 "                              0,0: none, shared: "
	 "where the small ones are [shared]\n"
	 "    after the numbers: ,plru ,round-robin ,random:SEED ,lru-plru4\n"
	 "      ,qlru:HHMRU ,duel:AGE:FIRST:SECOND:COUNT:OF ,mru ,mru-n "
	 ",write-through\n"
	 "      ,no-allocate ,inclusive ,exclusive ,shared:CORES ,next-line\n"
	 "      ,stream:DEGREE:DISTANCE ,half-lines ,fp-bypass\n"
	 "    --cores=N                 cores for threads to run on [64]\n"
	 "    --cache-instructions=yes|no  does the machine flush lines when told? "
	 "[yes]\n"
	 "    --string-instructions=whole|iterations  is rep movs one instruction, or "
	 "is each\n"
	 "                              of its iterations one? [whole]\n"
	 "    --stream-buffers=N        of non-temporal stores; 0: as many as usual "
	 "[0]\n"
	 "    --sockets=N,ONE-HOP,TWO-HOPS,OTHER-CACHE[,ring][,close]   they "
	 "are on N\n"
	 "                              sockets, each with memory: "
	 "what lines of others'\n"
	 "                              take (0,0,0 without --timing), "
	 "how those stand,\n"
	 "                              and whether threads fill one after the other\n"
	 "    --page=BYTES              page size [4096]\n"
	 "    --timing=L2,LLC,MEMORY,OTHER-CORE,STLB,WALK,FILL-BUFFERS,WRITE-BUFFERS\n"
	 "                              count cycles: what these take, "
	 "from the look-up\n"
	 "                              in L1, and how many there are (0: enough)\n"
	 "    --out-of-order=L1,WINDOW,MISPREDICTED,WALKERS,L2-FILL-BUFFERS,WIDTH,LOADS,STORES,\n"
	 "                              L2-LINE,LLC-LINE,MEMORY-LINE,DISTANCE,NEAR,STAY,\n"
	 "                              FLOAT-ADD,FLOAT-MULTIPLY,STORE-LINE,SET-LINE,\n"
	 "                              LONE-LINE,LOAD-SET-LINE,LLC-SET-LINE,BANKS   and\n"
	 "                              the core is: of the width, and of loads, stores and\n"
	 "                              lines, hundredths\n"
	 "                              (0: no limit)\n"
	 "    --time-sample=FULL,PERIOD,BRANCHES,WARM,UNIT   of that, time is modelled of the\n"
	 "                              first FULL instructions of each region, and of UNIT in each PERIOD,\n"
	 "                              behind BRANCHES whose branches are, and WARM that\n"
	 "                              make the core warm [all]\n"
	 "    --huge-pages=yes|no|smaps who tells which are, "
	 "on a kernel that has PAGEMAP_SCAN:\n"
	 "                              that, nobody, or /proc/self/smaps [yes]\n"
	 "    --next-machine            what follows is about another machine, which\n"
	 "                              gets the same references\n"
	 "    --profile=DIRECTORY       write PID-N.profile there: "
	 "misses by instruction\n"
	 "    --call-paths=DIRECTORY    write there all counters by call path\n"
	 "    --call-path-nodes=N       on at most so many paths [100000]\n"
	 "    --profile-misses=FILE     and each miss of L1D in its order\n"
	 "    --sweep=LEVEL,SETS:WAYS,...   "
	 "misses of that level of the first machine,\n"
	 "                              an LRU cache that nobody else fills, "
	 "if it were so\n"
	 "    --files=N                 the program's soft limit of open files\n"
	 "    --window=N                lines and pages touched in N instructions\n"
	 "    --cpu=host|LEAVES         CPUID tells of the host, "
	 "or what is given, not of\n"
	 "                              Valgrind's CPU\n"
	 "    --native=no|yes           the host executes what Valgrind lacks [yes]\n"
	 "    --hosted-flush=no|yes     FTZ and DAZ "
	 "are the host's in Valgrind's code [yes]\n"
	 "    --asks-cpuid=no|yes       CPUID says what the host can execute [yes]\n"
	 "    --sample=SETS,WARM,BURST,PERIOD,SEED   L2 "
	 "and last level in so many of 64\n"
	 "                              groups of sets, "
	 "the first levels in bursts of so\n"
	 "                              many instructions after "
	 "so many that warm them\n"
	 "    --sharing=no|yes          with a profile: "
	 "lines that threads share [no]\n"
	 "    --line-use=no|yes         with a profile: "
	 "bytes used of fetched lines [no]\n"
	 "    --quantum=N               and "
	 "who takes them from whom if threads take turns\n"
	 "                              after N data references each\n"
	 "    --lines=no|yes            read line numbers, for regions [no]\n"
	 "    --pieces=no|yes           references as the core emulates them, "
	 "as other tools\n"
	 "                              of Valgrind's see them [no]\n"
	 "    --check-blocks=no|yes     VEX checks each block "
	 "with what was added to it [no]\n"
	 "    --report=no|yes           print all counters at the end [no]\n"
	 "    --alone=no|yes            nothing is preloaded: "
	 "what the core adds to the\n"
	 "                              environment is left out [no]\n");
}

void options_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}
