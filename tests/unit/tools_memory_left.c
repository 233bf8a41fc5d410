/* SPDX-License-Identifier: MIT
 *
 * How much memory a process may take, as files say it of the machine, and of control
 * groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/calibrate/memory_left.h"
#include "base/format.h"
#include "tests/tap/tap.h"

#define GROUPS "proc/self/cgroup"
#define SECOND "sys/fs/cgroup/"
#define FIRST SECOND "memory/"

static char root[64];
static struct cp_memory_text room;

static void write_text(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	cp_format(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		bail("cannot write %s", path);
}

static void is_left(uint64_t bytes, const char *what)
{
	is_u64(cp_memory_left(&room, root).groups, bytes, "%s", what);
}

static void test_machine(void)
{
	is_u64(cp_memory_left(&room, root).machine, UINT64_MAX, "no file of the machine");
	write_text("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    70 kB\n");
	is_u64(cp_memory_left(&room, root).machine, 71680, "what is available");
	write_text("proc/meminfo", "MemTotal: 9 kB\nMemFree:    70 kB\n");
	is_u64(cp_memory_left(&room, root).machine, UINT64_MAX, "which it does not say");
}

static void test_second_version(void)
{
	write_text(GROUPS, "0::/a/b\n");
	is_left(UINT64_MAX, "no files");
	write_text(SECOND "a/b/memory.max", "max\n");
	write_text(SECOND "a/b/memory.current", "100\n");
	is_left(UINT64_MAX, "no limit");
	write_text(SECOND "a/memory.max", "1000\n");
	write_text(SECOND "a/memory.current", "700\n");
	is_left(300, "that of the group around");
	write_text(
		SECOND "a/memory.stat", "anon 500\ninactive_file 150\nactive_file 50\n");
	is_left(450, "with what the kernel would give back");
	write_text(SECOND "a/b/memory.max", "120\n");
	is_left(20, "its own is less");
	write_text(SECOND "memory.max", "40\n");
	write_text(SECOND "memory.current", "41\n");
	is_left(0, "one of all groups, which is exceeded");
}

static void test_first_version(void)
{
	write_text(GROUPS, "12:cpu:/x\n8:memory:/c\n0::/d\n");
	write_text(FIRST "c/memory.limit_in_bytes", "5000\n");
	write_text(FIRST "c/memory.usage_in_bytes", "2000\n");
	write_text(FIRST "c/memory.stat", "inactive_file 7\ntotal_inactive_file 1000\n");
	write_text(SECOND "memory.max", "max\n");
	is_left(4000, "of the first version");
	write_text(SECOND "d/memory.max", "50\n");
	write_text(SECOND "d/memory.current", "20\n");
	is_left(30, "less of the second");
	write_text(GROUPS, "8:memory:/elsewhere/c\n");
	write_text(FIRST "memory.limit_in_bytes", "600\n");
	write_text(FIRST "memory.usage_in_bytes", "100\n");
	is_left(500, "a container's path, of which its files have the root only");
	write_text(GROUPS, "7:memory:/\n");
	is_left(500, "the root");
	write_text(GROUPS, "7:cpu:/c\n1:name=systemd:/c\n");
	is_left(UINT64_MAX, "of no group that is for memory");
}

/* The list of many controllers is longer than a page. */
static void test_long_list(void)
{
	static char list[6000];
	size_t length = 0;

	while (length < 5000)
		length += cp_format(list + length, sizeof(list) - length,
			"9:cpu:/%0100d\n", (int)length);
	cp_format(list + length, sizeof(list) - length, "8:memory:/c\n");
	write_text(GROUPS, list);
	write_text(FIRST "memory.limit_in_bytes", "60000\n");
	is_left(4000, "at the end of a list of 5,000 bytes");
}

int main(void)
{
	char command[128];

	plan_lazy();
	cp_format(root, sizeof(root), "/tmp/memory-left-XXXXXX");
	if (!mkdtemp(root))
		bail("cannot make a directory");
	is_left(UINT64_MAX, "no list");
	test_machine();
	test_second_version();
	test_first_version();
	test_long_list();
	cp_format(command, sizeof(command), "rm -r %s", root);
	return system(command);
}
