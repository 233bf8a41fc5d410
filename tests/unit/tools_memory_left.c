/* SPDX-License-Identifier: MIT
 *
 * What control groups leave a calibration, as files of theirs say it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "tests/tap/tap.h"
#include "tools/calibrate/calibrate.h"

static char root[64], groups[128];

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

static void is_left(size_t bytes, const char *what)
{
	is_u64(cp_memory_left(root, groups), bytes, "%s", what);
}

static void test_second_version(void)
{
	write_text("groups", "0::/a/b\n");
	is_left(SIZE_MAX, "no files");
	write_text("a/b/memory.max", "max\n");
	write_text("a/b/memory.current", "100\n");
	is_left(SIZE_MAX, "no limit");
	write_text("a/memory.max", "1000\n");
	write_text("a/memory.current", "700\n");
	is_left(300, "that of the group around");
	write_text("a/memory.stat", "anon 500\ninactive_file 150\nactive_file 50\n");
	is_left(450, "with what the kernel would give back");
	write_text("a/b/memory.max", "120\n");
	is_left(20, "its own is less");
	write_text("memory.max", "40\n");
	write_text("memory.current", "41\n");
	is_left(0, "one of all groups, which is exceeded");
}

static void test_first_version(void)
{
	write_text("groups", "12:cpu:/x\n8:memory:/c\n0::/d\n");
	write_text("memory/c/memory.limit_in_bytes", "5000\n");
	write_text("memory/c/memory.usage_in_bytes", "2000\n");
	write_text("memory/c/memory.stat", "inactive_file 7\ntotal_inactive_file 1000\n");
	write_text("memory.max", "max\n");
	is_left(4000, "of the first version");
	write_text("groups", "8:memory:/elsewhere/c\n");
	write_text("memory/memory.limit_in_bytes", "600\n");
	write_text("memory/memory.usage_in_bytes", "100\n");
	is_left(500, "a container's path, of which its files have the root only");
	write_text("groups", "7:memory:/\n");
	is_left(500, "the root");
}

int main(void)
{
	plan_lazy();
	cp_format(root, sizeof(root), "/tmp/memory-left-XXXXXX");
	if (!mkdtemp(root))
		bail("cannot make a directory");
	cp_format(groups, sizeof(groups), "%s/groups", root);
	is_left(SIZE_MAX, "no list");
	test_second_version();
	test_first_version();
	cp_format(groups, sizeof(groups), "rm -r %s", root);
	return system(groups);
}
