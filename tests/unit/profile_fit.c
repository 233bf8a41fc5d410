/* SPDX-License-Identifier: MIT
 *
 * Tables of profiles on a narrow terminal: numbers get shorter, names are broken.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/tap/tap.h"
#include "tools/profile/model/fit.h"

static void test_numbers(void)
{
	static const struct {
		const char *cell, *fits;
	} cases[] = {
		{"0", "0"},
		{"9,999", "9,999"},
		{"12,345", "12.35k"},
		{"9,999,499", "9.999M"},
		{"9,999,600", "10.00M"},
		{"99,994", "99.99k"},
		{"99,996", "100.0k"},
		{"999,949", "999.9k"},
		{"999,950", "1.000M"},
		{"12,345,678", "12.35M"},
		{"34,056,000,000", "34.06G"},
		{"18,446,744,073,709,551,615", "18.45E"},
		{"1,844,674,407,370,955,161,500", "1844.7E"},
		{"123456.7", "123456.7"},
		{"100.00%", "100.00%"},
		{"Latency", "Latency"},
	};
	struct cp_arena arena = {.give_up = tap_no_memory};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_string(cp_fit_number(&arena, cases[i].cell), cases[i].fits, "%s",
			cases[i].cell);
	cp_arena_free(&arena);
}

static void is_broken(const char *text, size_t width, const char *want)
{
	char got[256] = "";
	struct cp_out out;
	int ends[2];

	if (pipe(ends) < 0)
		bail("no pipe");
	cp_out_open(&out, ends[1]);
	cp_fit_text(&out, text, 2, width);
	(void)cp_out_flush(&out);
	close(ends[1]);
	if (read(ends[0], got, sizeof(got) - 1) < 0)
		bail("nothing to read");
	close(ends[0]);
	is_string(got, want, "%s", text);
}

/* The width at a terminal of so many columns. */
static size_t width_at(unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int ends = posix_openpt(O_RDWR | O_NOCTTY), terminal;
	size_t width;

	if (ends < 0 || grantpt(ends) < 0 || unlockpt(ends) < 0)
		return SIZE_MAX;
	terminal = open(ptsname(ends), O_RDWR | O_NOCTTY);
	if (ioctl(terminal, TIOCSWINSZ, &size) < 0)
		bail("a terminal without size");
	width = cp_fit_terminal(terminal);
	close(terminal);
	close(ends);
	return width;
}

static void test_terminals(void)
{
	int file = open("/dev/null", O_WRONLY);

	is_u64(cp_fit_terminal(file), 0, "what is no terminal has no width");
	close(file);
	if (width_at(80) == SIZE_MAX) {
		skip(4, "no terminals here");
		return;
	}
	is_u64(width_at(132), 132, "a wide terminal");
	is_u64(width_at(60), 60, "the narrowest");
	is_u64(width_at(59), 80, "a narrower one: no table has room in it");
	is_u64(width_at(0), 80, "one that does not know");
}

int main(void)
{
	plan_lazy();
	test_numbers();
	test_terminals();
	is_broken("short", 10, "  short\n");
	is_broken("   170 > x = y;", 30, "  170 > x = y;\n");
	is_broken("std::vector<int>::push", 14, "  std::vector<\n  int>::push\n");
	is_broken("outer::inner::last", 16, "  outer::inner::\n  last\n");
	is_broken("outer::inner::last", 15, "  outer::\n  inner::last\n");
	is_broken("pair<alpha,omega>", 14, "  pair<alpha,\n  omega>\n");
	is_broken("alpha/beta/gamma", 14, "  alpha/beta/\n  gamma\n");
	is_broken("one two three", 11, "  one two \n  three\n");
	is_broken("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 5,
		"  \u00e4\u00f6\u00fc\n  \u00e4\u00f6\u00fc\n");
	is_broken("abcdefghij klm", 12, "  abcdefghij\n  klm\n");
	is_broken("\xff\xfe\xfd", 4, "  \xff\xfe\n  \xfd\n");
	return 0;
}
