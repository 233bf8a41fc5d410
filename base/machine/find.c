/* SPDX-License-Identifier: MIT
 *
 * A machine by its name.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/files/trusted.h"
#include "base/format.h"
#include "base/machine/host.h"
#include "base/text/nearest.h"

#define HOST "host"
#define PLAIN "plain"

static int complain_of_name(const char *name, char *error, size_t error_size)
{
	const char *names[64] = {HOST, PLAIN}, *nearest;
	unsigned count = 2;
	char file[80];

	if (access(name, F_OK) == 0) {
		cp_format(error, error_size, "unknown machine %s: did you mean ./%s?",
			name, name);
		return -ENOENT;
	}
	for (const struct cp_embedded *e = cp_processor_files(); e->name && count < 63;
		e++)
		if (strstr(e->name, ".machine"))
			names[count++] = e->name;
	cp_format(file, sizeof(file), "%s.machine", name);
	nearest = cp_nearest(file, names);
	cp_format(error, error_size, "unknown machine %s%s%.*s%s", name,
		nearest ? ": did you mean " : "",
		nearest ? (int)strcspn(nearest, ".") : 0, nearest ? nearest : "",
		nearest ? "?" : "");
	return -ENOENT;
}

static int named_machine(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	char file[80], content[8192];
	const char *text = content;

	if (strchr(name, '/')) {
		char why[160];
		int result = cp_trusted_load(
			name, CP_NAMED, content, sizeof(content), why, sizeof(why));

		if (result < 0) {
			cp_format(error, error_size, "machine file %s: %s", name, why);
			return result;
		}
	} else {
		cp_format(file, sizeof(file), "%s.machine", name);
		text = cp_embedded_find_in(cp_processor_files(), file);
	}
	if (!text)
		return complain_of_name(name, error, error_size);
	*machine = cp_machine_defaults;
	machine->note[0] = '\0';
	cp_format(machine->name, sizeof(machine->name), "%s", name);
	return cp_machine_parse(machine, name, text, error, error_size);
}

int cp_machine_find(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	bool plain = strcmp(name, PLAIN) == 0;

	if (!plain && strcmp(name, HOST) != 0)
		return named_machine(machine, name, error, error_size);
	cp_machine_host(machine, plain);
	return 0;
}

const char *cp_machine_to_sample(const char *name, bool sampled)
{
	return sampled && strcmp(name, HOST) == 0 ? PLAIN : name;
}
