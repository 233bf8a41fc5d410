/* SPDX-License-Identifier: MIT
 * Directories without malloc: of more entries than one system call returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "tests/tap/tap.h"

enum { FILES = 300, WANTED = 7 };

static void make_files(int dir)
{
	char name[64];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "a-name-of-some-length-%d", i);
		close(openat(dir, name, O_CREAT | O_WRONLY, 0600));
	}
	close(openat(dir, ".hidden", O_CREAT | O_WRONLY, 0600));
}

struct seen {
	unsigned times[FILES], others, stop_after, calls;
};

static bool note(void *context, int dir, const char *name)
{
	struct seen *seen = context;
	int number;

	if (sscanf(name, "a-name-of-some-length-%d", &number) == 1 && number >= 0 &&
		number < FILES && faccessat(dir, name, F_OK, 0) == 0)
		seen->times[number]++;
	else
		seen->others++;
	return ++seen->calls == seen->stop_after;
}

static unsigned not_once(const struct seen *seen)
{
	unsigned wrong = 0;

	for (int i = 0; i < FILES; i++)
		wrong += seen->times[i] != 1;
	return wrong;
}

static bool remove_it(void *unused, int dir, const char *name)
{
	(void)unused;
	unlinkat(dir, name, 0);
	return false;
}

int main(void)
{
	char path[] = "/tmp/base-directory-XXXXXX";
	struct seen all = {.stop_after = 0}, some = {.stop_after = WANTED};
	int dir, file;

	plan_lazy();
	if (!mkdtemp(path))
		bail("no /tmp");
	dir = open(path, O_RDONLY | O_DIRECTORY);
	make_files(dir);
	is_int(cp_directory_any(dir, note, &all), 0, "nobody wanted one of them");
	is_u64(not_once(&all), 0, "each was seen once");
	is_u64(all.others, 0, "and nothing else");
	is_int(cp_directory_any(dir, note, &some), 0, "read to its end already");
	lseek(dir, 0, SEEK_SET);
	is_int(cp_directory_any(dir, note, &some), 1, "one was wanted");
	is_u64(some.calls, WANTED, "and none shown after it");
	file = openat(dir, ".hidden", O_RDONLY);
	is_int(cp_directory_any(file, note, &all), -ENOTDIR, "a file");
	is_int(cp_directory_any(-1, note, &all), -EBADF, "no descriptor");
	unlinkat(dir, ".hidden", 0);
	for (int tries = 0; tries < 10 && rmdir(path) < 0; tries++) {
		lseek(dir, 0, SEEK_SET);
		cp_directory_any(dir, remove_it, NULL);
	}
	is_int(access(path, F_OK), -1, "its files can be removed meanwhile");
	close(file);
	close(dir);
	return 0;
}
