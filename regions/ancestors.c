/* SPDX-License-Identifier: MIT */
#include "regions/ancestors.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

#define DEEPEST 64 /* what is farther away has not started us for this */
#define CUT 15     /* bytes of a name in /proc/PID/stat */
#define FIELD_OF_START 22

static const char *const launchers[] = {
	"mpirun",
	"mpiexec",
	"mpiexec.hydra",
	"mpiexec.openmpi",
	"mpirun.openmpi",
	"mpiexec.mpich",
	"mpirun.mpich",
	"orterun",
	"orted",
	"prte",
	"prterun",
	"prted",
	"prun",
	"hydra_pmi_proxy",
	"hydra_bstrap_proxy",
	"pmi_proxy",
	"srun",
	"slurmstepd",
	"jsrun",
	"aprun",
	"flux-shell",
};

/* An MPI launcher or one of its daemons, by the base name of its executable. */
static bool is_launcher_name(const char *name)
{
	return CP_IS_AMONG(name, launchers);
}

bool cp_is_launcher(const char *exe)
{
	return is_launcher_name(cp_base_name(exe));
}

/* The kernel cuts what is longer. */
static bool is_cut_launcher_name(const char *name)
{
	for (unsigned i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strncmp(name, launchers[i], CUT) == 0)
			return true;
	return false;
}

/* ---- /proc ---- */

/* "PID (NAME) STATE PPID …": a name may hold anything, blanks and brackets too. */
static bool parse_stat(const char *stat, struct cp_ancestor *ancestor)
{
	const char *name = strchr(stat, '('), *at = strrchr(stat, ')');
	uint64_t value = 0;

	if (!name || !at || at < name)
		return false;
	cp_format(ancestor->name, sizeof(ancestor->name), "%.*s", (int)(at - name - 1),
		name + 1);
	for (int field = 3; field <= FIELD_OF_START; field++) {
		at = strchr(at, ' ');
		if (!at++)
			return false;
		if (field == 4 && cp_parse_u64_prefix(at, &at, &value) == 0)
			ancestor->ppid = (pid_t)value;
		if (field == FIELD_OF_START)
			return cp_parse_u64_prefix(at, &at, &ancestor->started) == 0;
	}
	return false;
}

bool cp_ancestor_read(pid_t pid, struct cp_ancestor *ancestor)
{
	char path[40], stat[512];

	memset(ancestor, 0, sizeof(*ancestor));
	ancestor->pid = pid;
	cp_format(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return pid > 0 && cp_read_file(path, stat, sizeof(stat)) &&
	       parse_stat(stat, ancestor);
}

void cp_launchers_above(struct cp_launchers *above)
{
	struct cp_ancestor ancestor;
	pid_t pid = getppid();

	above->found = false;
	for (int i = 0; i < DEEPEST && cp_ancestor_read(pid, &ancestor); i++) {
		pid = ancestor.ppid;
		if (!is_cut_launcher_name(ancestor.name))
			continue;
		if (!above->found)
			above->nearest = ancestor;
		above->farthest = ancestor;
		above->found = true;
	}
}

/* The children of a batch script are no helpers of the daemon that started the script. */
bool cp_is_launchers_helper(void)
{
	struct cp_ancestor parent;

	return cp_ancestor_read(getppid(), &parent) &&
	       is_cut_launcher_name(parent.name) &&
	       strcmp(parent.name, "slurmstepd") != 0;
}

void cp_ancestors_visit(
	pid_t last, void (*visit)(void *context, pid_t pid), void *context)
{
	struct cp_ancestor ancestor;
	pid_t pid = getpid();

	for (int i = 0; i < DEEPEST && pid > 1; i++) {
		visit(context, pid);
		if (pid == last || !cp_ancestor_read(pid, &ancestor))
			return;
		pid = ancestor.ppid;
	}
}

uint64_t cp_ancestor_key(const struct cp_ancestor *ancestor)
{
	struct utsname host;
	char text[64];

	cp_format(text, sizeof(text), "%d %llu", (int)ancestor->pid,
		(unsigned long long)ancestor->started);
	return cp_hash_text(
		cp_hash_text(0, text), uname(&host) == 0 ? host.nodename : "");
}
