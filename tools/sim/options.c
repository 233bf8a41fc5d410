/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The machine to simulate, from the command line.
 */
#include "tool.h"

struct machine tool_machine;
Bool tool_report;

/* One row per option that describes an array of the machine.  The defaults are
 * a plain core of the 2010s. */
static struct array {
	const HChar *name;
	struct geometry *geometry;
	UInt sets, ways;
	Bool has_line, may_be_absent;
	UInt line;
} arrays[] = {
	{"--l1i", &tool_machine.l1i, 64, 8, True, False, 64},
	{"--l1d", &tool_machine.l1d, 64, 8, True, False, 64},
	{"--l2", &tool_machine.l2, 1024, 16, True, True, 64},
	{"--llc", &tool_machine.llc, 8192, 16, True, True, 64},
	{"--itlb", &tool_machine.itlb, 16, 4, False, False, 0},
	{"--dtlb", &tool_machine.dtlb, 16, 4, False, False, 0},
	{"--stlb", &tool_machine.stlb, 128, 8, False, True, 0},
};
#define NARRAYS (sizeof(arrays) / sizeof(arrays[0]))

static ULong page_size = 4096;

static void __attribute__((noreturn)) refuse(const HChar *name, const HChar *why)
{
	VG_(fmsg)("%s: %s\n", name, why);
	VG_(exit)(2);
}

/* "=1,2,3" into out[n]. */
static Bool parse_numbers(const HChar *s, ULong *out, UInt n)
{
	for (UInt i = 0; i < n; i++) {
		HChar *end;

		if (*s++ != (i ? ',' : '=') || !VG_(isdigit)(*s))
			return False;
		out[i] = (ULong)VG_(strtoll10)(s, &end);
		s = end;
	}
	return *s == '\0';
}

static Bool power_of_two(ULong n)
{
	return n && !(n & (n - 1));
}

static void check_array(const struct array *a, const ULong *v)
{
	if (!v[0] && !v[1]) {
		if (!a->may_be_absent)
			refuse(a->name, "this level cannot be absent");
		return;
	}
	if (v[0] < 1 || v[0] > 1u << 24)
		refuse(a->name, "the number of sets must be 1 to 16777216");
	if (v[1] < 1 || v[1] > CACHE_MAX_WAYS)
		refuse(a->name, "the number of ways must be 1 to 128");
	if (a->has_line && (!power_of_two(v[2]) || v[2] < 16 || v[2] > 256))
		refuse(a->name, "the line size must be 16, 32, 64, 128 or 256");
}

static void parse_array(struct array *a, const HChar *value)
{
	ULong v[3] = {0, 0, 0};

	if (!parse_numbers(value, v, a->has_line ? 3 : 2))
		refuse(a->name,
			a->has_line ? "expected SETS,WAYS,LINE" : "expected SETS,WAYS");
	check_array(a, v);
	a->sets = v[0];
	a->ways = v[1];
	a->line = v[0] ? v[2] : 0;
}

static void parse_page(const HChar *value)
{
	if (!parse_numbers(value, &page_size, 1) || !power_of_two(page_size) ||
		page_size < 1024 || page_size > 1u << 30)
		refuse("--page", "expected a power of two from 1024 to 1073741824");
}

Bool options_parse(const HChar *arg)
{
	for (UInt i = 0; i < NARRAYS; i++) {
		UInt length = VG_(strlen)(arrays[i].name);

		if (VG_(strncmp)(arg, arrays[i].name, length) == 0 &&
			arg[length] == '=') {
			parse_array(&arrays[i], arg + length);
			return True;
		}
	}
	if (VG_(strncmp)(arg, "--page=", 7) == 0) {
		parse_page(arg + 6);
		return True;
	}
	if (VG_BOOL_CLO(arg, "--report", tool_report)) {
		return True;
	}
	return False;
}

/* Fills in tool_machine. */
void options_check(void)
{
	tool_machine.line = arrays[0].line;
	tool_machine.page = page_size;
	for (UInt i = 0; i < NARRAYS; i++) {
		struct array *a = &arrays[i];

		if (a->sets && a->has_line && a->line != tool_machine.line)
			refuse(a->name, "all levels must have the line size of --l1i");
		a->geometry->sets = a->sets;
		a->geometry->ways = a->sets ? a->ways : 0;
	}
	if (tool_machine.page < tool_machine.line)
		refuse("--page", "a page must not be smaller than a line");
}

void options_usage(void)
{
	VG_(printf)
	("    --l1i=SETS,WAYS,LINE --l1d=... --l2=... --llc=...   caches [64,8,64 "
	 "64,8,64\n"
	 "                              1024,16,64 8192,16,64]; --l2, --llc 0,0,0: none\n"
	 "    --itlb=SETS,WAYS --dtlb=... --stlb=...   TLBs [16,4 16,4 128,8];\n"
	 "                              --stlb=0,0: none\n"
	 "    --page=BYTES              page size [4096]\n"
	 "    --report=no|yes           print all counters at the end [no]\n");
}

void options_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}
