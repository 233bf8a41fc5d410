/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/trusted.h"
#include "base/text/table.h"

/* Few files are shown, some of them often: those read last stay. */
#define KEPT 16
#define TAB 8
#define MAX_FILE (16 << 20) /* no source is that long */

static struct kept {
	const char *path; /* NULL: nothing yet */
	size_t n;
	const char **lines;
} kept[KEPT];

/* A line with blanks in place of tabs. */
static struct cp_slice expand_tabs(struct cp_arena *arena, const char *line)
{
	size_t length = strcspn(line, "\r\n"), n = 0;
	char *text = cp_arena_alloc(arena, length * TAB + 1);

	for (size_t i = 0; i < length; i++) {
		if (line[i] != '\t') {
			text[n++] = line[i];
			continue;
		}
		do
			text[n++] = ' ';
		while (n % TAB);
	}
	return (struct cp_slice){text, text + n};
}

static void add_line(struct cp_arena *arena, struct kept *k, const char *line)
{

	if (!(k->n & (k->n - 1))) {
		const char **larger =
			cp_arena_alloc(arena, (k->n ? 2 * k->n : 1) * sizeof(*larger));

		if (k->n)
			memcpy(larger, k->lines, k->n * sizeof(*larger));
		k->lines = larger;
	}
	k->lines[k->n++] = cp_text_safe(arena, expand_tabs(arena, line));
}

FILE *cp_source_open(const char *path, const char **reason)
{
	static char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, MAX_FILE, why, sizeof(why));

	*reason = why;
	return fd < 0 ? NULL : fdopen(fd, "r");
}

static const struct kept *find_kept(struct cp_arena *arena, const char *path)
{
	static unsigned next;
	struct kept *k = &kept[next];
	const char *reason;
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	for (unsigned i = 0; i < KEPT; i++)
		if (kept[i].path && strcmp(kept[i].path, path) == 0)
			return &kept[i];
	next = (next + 1) % KEPT;
	*k = (struct kept){.path = cp_arena_copy(arena, path, strlen(path))};
	file = cp_source_open(path, &reason);
	while (file && getline(&line, &size, file) > 0)
		add_line(arena, k, line);
	free(line);
	if (file)
		fclose(file);
	return k;
}

void cp_source_forget(void)
{
	memset(kept, 0, sizeof(kept));
}

const char *cp_source_text(struct cp_arena *arena, const char *path, unsigned number)
{
	const struct kept *k = *path ? find_kept(arena, path) : NULL;

	return k && number && number <= k->n ? k->lines[number - 1] : NULL;
}

const char *cp_source_line(struct cp_arena *arena, const char *path, unsigned number)
{
	const char *text = cp_source_text(arena, path, number);

	return text ? text + strspn(text, " ") : NULL;
}

bool cp_source_changed(const char *path, const char *program)
{
	struct stat source, built;

	if (stat(path, &source) < 0 || stat(program, &built) < 0)
		return false;
	return source.st_mtim.tv_sec > built.st_mtim.tv_sec;
}

bool cp_file_changed_since(const char *path, uint64_t ns)
{
	struct stat now;

	if (!ns || stat(path, &now) < 0)
		return false;
	return (uint64_t)now.st_ctim.tv_sec * 1000000000 + (uint64_t)now.st_ctim.tv_nsec >
	       ns;
}
