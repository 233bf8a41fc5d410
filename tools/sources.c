/* SPDX-License-Identifier: MIT */
#include "tools/sources.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "base/text.h"
#include "tools/runs/preloading.h"
#include "tools/profile/annotate.h"
#include "tools/profile/model/symbols_parts.h"

struct search {
	const char *wanted, *name; /* its last part */
	bool found, system;        /* in a library of the system */
	size_t files;
	unsigned distance; /* of the nearest, if that is near */
	char nearest[NAME_MAX + 1];
};

static void look_at(struct search *search, const char *file)
{
	const char *name = cp_base_name(file);
	unsigned distance =
		search->system ? UINT_MAX : cp_edit_distance(name, search->name);

	search->files++;
	search->found |= cp_annotate_is_named(file, search->wanted);
	if (distance >= search->distance)
		return;
	search->distance = distance;
	snprintf(search->nearest, sizeof(search->nearest), "%s", name);
}

static void look_in_unit(struct search *search, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *file = dwarf_filesrc(files, i, NULL, NULL);

		if (file)
			look_at(search, file);
	}
}

static void look_in(struct search *search, const char *path)
{
	Dwfl *dwfl = dwfl_begin(&cp_dwfl_callbacks);
	Dwfl_Module *module;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	if (!dwfl)
		return;
	dwfl_report_begin(dwfl);
	module = dwfl_report_offline(dwfl, path, path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	while (module && !search->found &&
		(unit = dwfl_module_nextcu(module, unit, &bias)))
		look_in_unit(search, unit);
	dwfl_end(dwfl);
}

/* Nobody misspells one of the thousands of names in the C library. */
static bool is_of_system(const char *library)
{
	return cp_starts_with(library, "/lib") || cp_starts_with(library, "/usr/lib");
}

/* Lists the objects that the loader would load; nothing of the program runs. */
static FILE *list_libraries(const char *loader, const char *program, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	*child = fork();
	if (*child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execl(loader, loader, "--list", program, NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*child > 0)
		return fdopen(ends[0], "r");
	close(ends[0]);
	return NULL;
}

static void look_in_libraries(
	struct search *search, const char *loader, const char *program)
{
	char line[PATH_MAX + 128];
	pid_t child;
	FILE *list = list_libraries(loader, program, &child);

	while (list && fgets(line, sizeof(line), list)) {
		char *arrow = strstr(line, "=> /"), *end = strstr(line, " (0x");
		char *path = arrow ? arrow + 3 : strchr(line, '/');

		if (search->found || !path || !end)
			continue;
		*end = '\0';
		search->system = is_of_system(path);
		look_in(search, path);
	}
	if (!list)
		return;
	fclose(list);
	waitpid(child, NULL, 0);
}

/* As annotate itself will find it, when the program has run. */
static void look_in_all(struct search *search, int fd)
{
	char path[PATH_MAX], loader[PATH_MAX], link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || !cp_program_interpreter(fd, loader, sizeof(loader)))
		return;
	path[length] = '\0';
	look_in(search, path);
	if (search->files && !search->found && *loader)
		look_in_libraries(search, loader, path);
}

/* A script, for what interprets it. */
static bool is_argument(const char *source, char *const program[])
{
	for (unsigned i = 1; program[i]; i++)
		if (cp_annotate_is_named(program[i], source))
			return true;
	return false;
}

bool cp_source_is_possible(const char *source, char *const program[])
{
	struct search search = {.wanted = source, .name = cp_base_name(source)};
	int fd = access(source, F_OK) == 0 ? -1 : cp_program_open(program[0]);

	if (fd < 0)
		return true;
	search.distance = (unsigned)(strlen(search.name) + 2) / 3 + 1;
	look_in_all(&search, fd);
	close(fd);
	if (search.found || !search.files || is_argument(source, program))
		return true;
	fprintf(stderr, "cachepeek: %s is none of the sources of %s", source, program[0]);
	if (*search.nearest)
		fprintf(stderr, ": did you mean %s?\n", search.nearest);
	else
		fprintf(stderr,
			": for what it loads or starts, `cachepeek dcache -d DIRECTORY` "
			"first, and `cachepeek annotate -d DIRECTORY %s`\n",
			source);
	return false;
}
