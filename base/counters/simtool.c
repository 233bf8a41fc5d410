/* SPDX-License-Identifier: MIT */
#include "base/counters/simtool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "base/syscall.h"

/* ---- what it takes ---- */

#define CODE_PAGE 4096

bool cp_sim_may_write_code(struct cp_why *why)
{
	void *page = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED) {
		munmap(page, CODE_PAGE);
		return true;
	}
	cp_format(why->text, sizeof(why->text),
		"the system forbids memory that is both writable and executable: allow it "
		"(systemd: MemoryDenyWriteExecute=no, SELinux: execmem)");
	return false;
}

/* The memory that the simulated PMU takes, with its caches and its copies of code,
 * beside a program that is not large: with less it ends before the program begins. */
#define SIM_MEMORY_MIB 512

static bool is_enough(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       limit.rlim_cur >= (rlim_t)SIM_MEMORY_MIB << 20;
}

int cp_sim_is_installed(const char *directory, struct cp_why *why)
{
	char tool[PATH_MAX + 64];

	cp_format(tool, sizeof(tool), "%s/%s", directory, CP_SIM_TOOL);
	if (!is_enough(RLIMIT_AS) || !is_enough(RLIMIT_DATA)) {
		cp_format(why->text, sizeof(why->text),
			"the simulated PMU takes %d MiB of memory, "
			"more than the limits allow: raise `ulimit -v` and `ulimit -d`",
			SIM_MEMORY_MIB);
		return -ENOMEM;
	}
	if (access(tool, X_OK) == 0)
		return 0;
	cp_format(why->text, sizeof(why->text),
		"the simulated PMU is not installed (%s): `make install` puts it there",
		tool);
	return -ENOENT;
}

/* As the core looks at it, which asks for more than the kernel does: even of root. */
const char *cp_sim_refuses(const char *path)
{
	struct stat file;

	if (stat(path, &file) < 0)
		return NULL; /* nor will the kernel find it */
	if (file.st_mode & (S_ISUID | S_ISGID))
		return "it is set-user-ID or set-group-ID";
	if (cp_syscall(SYS_getxattr, path, "security.capability", NULL, 0) >= 0)
		return "it has file capabilities";
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return "it may not be read";
	if (file.st_uid != geteuid() && !(file.st_mode & (S_IXGRP | S_IXOTH)))
		return "only its owner may execute it";
	return NULL;
}

/* ---- its command line ---- */

const char *const cp_sim_core_options[CP_SIM_NCORE] = {
	"--tool=cachepeek",
	/* VALGRIND_OPTS and .valgrindrc are for the user's own Valgrind, whose options
	 * would end the program here. */
	"--command-line-only=yes",
	"-q",
	"--vgdb=no",          /* no FIFOs in /tmp, no polling */
	"--max-threads=5000", /* the default of 500 aborts larger programs */
	/* Whoever gives the core's lock back would have it again before another thread
	 * is awake, and threads would run one behind the other's end. */
	"--fair-sched=try",
	"--run-libc-freeres=no", /* would run code after the program's end */
	"--read-inline-info=no", /* debug info that nobody asks for */
	/* Otherwise a load whose value is overwritten unseen is optimised away before
	 * the tool sees it. */
	"--vex-iropt-register-updates=allregs-at-mem-access",
	/* Chasing turns a && b into code that does both and guards the effects of
	 * b: its instructions would be counted where the program skips them. */
	"--vex-guest-chase=no",
};

void cp_sim_describe(const struct cp_machine *machine, struct cp_sim_words *words)
{
	for (int level = 0; level < CP_NLEVELS; level++) {
		cp_machine_option(machine, (enum cp_level)level, words->level[level],
			sizeof(words->level[level]));
		words->word[level] = words->level[level];
	}
	cp_format(words->page, sizeof(words->page), "--page=%u", machine->page);
	words->word[CP_NLEVELS] = words->page;
	cp_format(words->cores, sizeof(words->cores), "--cores=%u", machine->cores);
	words->word[CP_NLEVELS + 1] = words->cores;
	cp_machine_timing_option(machine, words->timing, sizeof(words->timing));
	words->word[CP_NLEVELS + 2] = words->timing;
	cp_machine_sockets_option(machine, words->sockets, sizeof(words->sockets));
	words->word[CP_NLEVELS + 3] = words->sockets;
	cp_machine_ooo_option(machine, words->ooo, sizeof(words->ooo));
	words->word[CP_NLEVELS + 4] = words->ooo;
	words->word[CP_NLEVELS + 5] = machine->ignores_orders
					      ? "--cache-instructions=no"
					      : "--cache-instructions=yes";
	cp_format(words->streams, sizeof(words->streams), "--stream-buffers=%u",
		machine->stream_buffers);
	words->word[CP_NLEVELS + 6] = words->streams;
	words->word[CP_NLEVELS + 7] = machine->string_iterations
					      ? "--string-instructions=iterations"
					      : "--string-instructions=whole";
}
