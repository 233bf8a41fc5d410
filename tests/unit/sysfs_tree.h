/* SPDX-License-Identifier: MIT
 *
 * /sys/bus/event_source/devices of machines that are not here.
 */
#ifndef CACHEPEEK_TESTS_UNIT_SYSFS_TREE_H
#define CACHEPEEK_TESTS_UNIT_SYSFS_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* devices/pmu/file, with the directories that it lies in. */
static inline void tree_file(
	const char *devices, const char *pmu, const char *file, const char *text)
{
	char path[300];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", devices, pmu);
	mkdir(path, 0700);
	if (strchr(file, '/')) {
		snprintf(path, sizeof(path), "%s/%s/%.*s", devices, pmu,
			(int)(strchr(file, '/') - file), file);
		mkdir(path, 0700);
	}
	snprintf(path, sizeof(path), "%s/%s/%s", devices, pmu, file);
	out = fopen(path, "w");
	if (!out)
		abort();
	fprintf(out, "%s\n", text);
	fclose(out);
}

static inline void tree_core(
	const char *devices, const char *pmu, const char *type, const char *cpus)
{
	tree_file(devices, pmu, "type", type);
	tree_file(devices, pmu, "cpus", cpus);
	tree_file(devices, pmu, "format/event", "config:0-7");
	tree_file(devices, pmu, "format/umask", "config:8-15,32-35");
	tree_file(devices, pmu, "format/edge", "config:18");
	tree_file(devices, pmu, "format/ldlat", "config1:0-15");
	tree_file(devices, pmu, "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
	tree_file(devices, pmu, "events/circular", "circular");
}

static inline void tree_hybrid(const char *devices)
{
	tree_core(devices, "cpu_core", "4", "0-3");
	tree_core(devices, "cpu_atom", "10", "4-7");
	tree_file(devices, "software", "type", "1");
}

static inline void tree_uncore(const char *devices)
{
	static const char *const names[] = {
		"uncore_imc_0", "uncore_imc_1", "uncore_imc_10", "uncore_imc_2"};
	static const char *const types[] = {"18", "19", "21", "20"};

	for (int i = 0; i < 4; i++) {
		tree_file(devices, names[i], "type", types[i]);
		tree_file(devices, names[i], "cpumask", "0,8");
		tree_file(devices, names[i], "format/event", "config:0-7");
		tree_file(devices, names[i], "format/umask", "config:8-15");
	}
	tree_file(devices, "uncore_imc_free_running_0", "type", "30");
}

static inline void tree_remove(const char *devices)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", devices);
	if (system(command) != 0)
		abort();
}

#endif
