/* SPDX-License-Identifier: MIT */
#include "preload/reexec.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/syscall.h"
#include "base/text.h"
#include "base/counters/encode.h"
#include "base/engine/simclient.h"
#include "base/env.h"
#include "preload/program/numbers.h"
#include "preload/program/pinned.h"
#include "preload/program/layout.h"
#include "preload/program/level.h"
#include "preload/program/room.h"
#include "preload/program/sanitizers.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "base/counters/simtool.h"

#define ARGV0 "CACHEPEEK__ARGV0"
#define EXE "CACHEPEEK__EXE"
#define SELF "CACHEPEEK__SELF" /* OURS:LOWEST:EXECUTABLE:COMM, see restore_name() */

static char exe_path[PATH_MAX];

/* ---- where things are ---- */

/* As realpath(3), which may be another library's, whose turn has not come when we begin.
 * Without /proc the path is as it was given. */
static void real_path(const char *path, char *to, size_t size)
{
	char link[48];
	long fd = cp_syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC), length;

	cp_format(link, sizeof(link), "/proc/self/fd/%ld", fd);
	length = cp_syscall(SYS_readlinkat, AT_FDCWD, link, to, size - 1);
	cp_syscall(SYS_close, fd);
	if (length <= 0 || to[0] != '/')
		cp_format(to, size, "%s", path);
	else
		to[length] = '\0';
}

int cp_library_path(char *to, size_t size)
{
	char real[PATH_MAX];
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)cp_reexec_possible, &info) || !info.dli_fname)
		return -ENOENT;
	real_path(info.dli_fname, real, sizeof(real));
	return cp_format(to, size, "%s", real) < size ? 0 : -ENAMETOOLONG;
}

/* Beside the library: DIR/libcachepeek.so has DIR/libcachepeek/CP_SIM_TOOL. */
static int companion_directory(char *to, size_t size)
{
	char real[PATH_MAX];
	int result = cp_library_path(real, sizeof(real));
	char *slash;

	if (result < 0)
		return result;
	slash = strrchr(real, '/');
	if (!slash)
		return -ENOENT;
	return cp_format(to, size, "%.*s/libcachepeek", (int)(slash - real), real) < size
		       ? 0
		       : -ENAMETOOLONG;
}

int cp_companion_path(const char *name, char *to, size_t size)
{
	char directory[PATH_MAX];
	int result = companion_directory(directory, sizeof(directory));

	if (result < 0)
		return result;
	return cp_format(to, size, "%s/%s", directory, name) < size ? 0 : -ENAMETOOLONG;
}

int cp_encoder_path(char *to, size_t size)
{
	return cp_companion_path("encoder.so", to, size);
}

/* To execute it again would take it away from that tool. */
static bool is_under_valgrind(struct cp_why *why)
{
	if (!cp_sim_is_foreign())
		return false;
	cp_format(why->text, sizeof(why->text),
		"it runs under Valgrind, in which the simulated PMU cannot run");
	return true;
}

int cp_reexec_possible(struct cp_why *why)
{
	char directory[PATH_MAX];
	int result = companion_directory(directory, sizeof(directory));

	if (!cp_is_reexecuted() && cp_numbers_left(why) < 0)
		return -EMFILE;
	if (cp_is_sanitized(why) || is_under_valgrind(why) ||
		(!cp_is_reexecuted() &&
			(!cp_sim_may_write_code(why) || !cp_has_room_beside_tool(why))))
		return -ENOTSUP;
	return cp_sim_is_installed(result ? "?" : directory, why);
}

static bool same_file(const char *path, const struct stat *wanted)
{
	struct stat found;

	return stat(path, &found) == 0 && found.st_dev == wanted->st_dev &&
	       found.st_ino == wanted->st_ino;
}

const char *cp_own_executable(void)
{
	ssize_t length;

	if (exe_path[0])
		return exe_path;
	length = readlink("/proc/self/exe", exe_path, sizeof(exe_path) - 1);
	exe_path[length > 0 ? length : 0] = '\0';
	return exe_path;
}

/* An executable that no path leads to: it is in memory, or was deleted.  The simulator
 * finds it by a descriptor, which the new image closes. */
static struct {
	int fd; /* 0: not needed */
	char path[48];
} executable;

static const char *nameless_path(void)
{
	int low, high;

	if (executable.fd > 0)
		return executable.path;
	low = open("/proc/self/exe", O_RDONLY);
	high = low < 0 ? -1 : (int)cp_syscall(SYS_fcntl, low, F_DUPFD, 100);
	if (high >= 0) {
		cp_syscall(SYS_close, low);
		low = high;
	}
	if (low < 0)
		return cp_own_executable();
	executable.fd = low;
	cp_format(executable.path, sizeof(executable.path), "/proc/self/fd/%d", low);
	return executable.path;
}

/* Multi-call programs look at argv[0] or AT_EXECFN, and Valgrind makes both of the
 * path: the path that keeps the name is better than what /proc/self/exe says. */
static const char *program_path(const char *argv0)
{
	const char *names[] = {(const char *)getauxval(AT_EXECFN), argv0};
	struct stat self;

	if (stat("/proc/self/exe", &self) < 0)
		return cp_own_executable();
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && strchr(names[i], '/') && same_file(names[i], &self))
			return names[i];
	return same_file(cp_own_executable(), &self) ? cp_own_executable()
						     : nameless_path();
}

/* ---- the new command line ---- */

struct command {
	const char *argv[CP_SIM_NCORE + CP_MAX_MACHINES * (CP_SIM_NWORDS + 1) + 16];
	struct cp_sim_words machine[CP_MAX_MACHINES];
	char log[48];
	char self[96];
	char profile[PATH_MAX + 16], paths[PATH_MAX + 16];
	char cpu[CP_SHOWN_OPTION];
	char sweep[CP_SWEEP_OPTION], sample[CP_SAMPLE_OPTION];
	char quantum[32], window[32], time_sample[80], stack[48], files[32];
	char tool[PATH_MAX + 64];
	char lib[PATH_MAX + 32];
	unsigned count;
};

static void add_word(struct command *command, const char *word)
{
	command->argv[command->count++] = word;
}

/*
 * The core's messages (an instruction it does not know, say) go to a file of
 * the run, by a descriptor: given a path, or a descriptor to write to, the core
 * would leave a core file of its own when the program dies of a signal.
 */
static void add_log(struct command *command, const char *directory)
{
	char path[PATH_MAX], comm[17] = "";
	int fd, high, low;

	cp_format(path, sizeof(path), "%s/%d-simulator.log", directory, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	if (fd < 0) /* landlock(7) */
		fd = (int)cp_syscall(SYS_memfd_create, "simulator.log", 0);
	low = fd;
	high = (int)cp_syscall(SYS_fcntl, fd, F_DUPFD, 100);
	if (high >= 0) {
		cp_syscall(SYS_close, fd);
		fd = high;
	}
	cp_format(command->log, sizeof(command->log), "--log-file=/proc/self/fd/%d", fd);
	cp_syscall(SYS_prctl, PR_GET_NAME, comm);
	cp_format(command->self, sizeof(command->self), SELF "=%d:%d:%d:%s", fd, low,
		executable.fd > 0 ? executable.fd : fd, comm);
	add_word(command, command->log);
}

static void add_wishes(struct command *command, const char *directory,
	const struct cp_sim_wishes *wishes)
{
	if (wishes->profile) {
		cp_format(command->profile, sizeof(command->profile), "--profile=%s",
			directory);
		add_word(command, command->profile);
	}
	if (wishes->call_paths) {
		cp_format(command->paths, sizeof(command->paths), "--call-paths=%s",
			directory);
		add_word(command, command->paths);
	}
	if (wishes->sharing)
		add_word(command, "--sharing=yes");
	if (wishes->line_use)
		add_word(command, "--line-use=yes");
	if (wishes->lines)
		add_word(command, "--lines=yes");
	if (wishes->quantum) {
		cp_format(command->quantum, sizeof(command->quantum), "--quantum=%u",
			wishes->quantum);
		add_word(command, command->quantum);
	}
}

/* The program's needs are asked for here, where it has no sanitizer: dl_iterate_phdr(3)
 * would be that of its runtime, which is not ready yet. */
static void add_cpu(struct command *command, const struct cp_machine *machine,
	enum cp_shown_cpu wanted)
{
	enum cp_shown_cpu shown = cp_level_to_show(wanted, machine);

	if (shown == CP_SHOWN_HOSTS)
		add_word(command, "--cpu=host");
	if (shown != CP_SHOWN_MACHINES)
		return;
	cp_shown_option(machine, command->cpu, sizeof(command->cpu));
	add_word(command, command->cpu);
}

/* The seed of a sample.  It differs between processes and between runs, so that
 * several runs tell more than one. */
static uint64_t seed_of_process(const char *directory)
{
	return 1 + cp_hash_text((uint64_t)getpid(), directory) % 1000000000;
}

/* With a seed that was given, ranks of a job draw bursts of their own, too: the same
 * ones, at the same places of the same program, would tell no more than one rank does. */
static struct cp_sample_plan sample_of_rank(const struct cp_sample_plan *plan)
{
	struct cp_sample_plan sample = *plan;

	if (sample.seed && cp_run.rank.number > 0)
		sample.seed += (uint64_t)cp_run.rank.number << 40;
	return sample;
}

/* Beside its machines. */
static void add_plan(
	struct command *command, const struct cp_plan *plan, const char *directory)
{
	if (plan->window) {
		cp_format(command->window, sizeof(command->window), "--window=%u",
			plan->window);
		add_word(command, command->window);
	}
	if (plan->sample.sets) {
		struct cp_sample_plan sample = sample_of_rank(&plan->sample);

		cp_sample_option(&sample, seed_of_process(directory), command->sample,
			sizeof(command->sample));
		add_word(command, command->sample);
	}
	cp_machine_time_sample_option(
		&plan->machine[0], command->time_sample, sizeof(command->time_sample));
	if (command->time_sample[0])
		add_word(command, command->time_sample);
	cp_sweep_option(&plan->sweep, command->sweep, sizeof(command->sweep));
	if (command->sweep[0])
		add_word(command, command->sweep);
}

/* The core's own limit of the main stack is 16 MiB; it grows to this one only as it is
 * used. */
#define CORE_STACK ((rlim_t)16 << 20)
#define UNLIMITED_STACK ((rlim_t)16 << 30)

static void add_stack(struct command *command)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur <= CORE_STACK)
		return;
	if (limit.rlim_cur > UNLIMITED_STACK)
		limit.rlim_cur = UNLIMITED_STACK;
	cp_format(command->stack, sizeof(command->stack), "--main-stacksize=%llu",
		(unsigned long long)limit.rlim_cur);
	add_word(command, command->stack);
}

static void add_files(struct command *command)
{
	if (!cp_numbers_to_raise())
		return;
	cp_format(command->files, sizeof(command->files), "--files=%llu",
		(unsigned long long)cp_fd_limits().rlim_cur);
	add_word(command, command->files);
}

static void add_options(struct command *command, const struct cp_plan *plan,
	const char *directory, const struct cp_sim_wishes *wishes)
{
	add_word(command, "cachepeek-sim");
	for (unsigned i = 0; i < CP_SIM_NCORE; i++)
		add_word(command, cp_sim_core_options[i]);
	add_log(command, directory);
	add_stack(command);
	add_files(command);
	for (unsigned i = 0; i < plan->nmachines; i++) {
		if (i)
			add_word(command, "--next-machine");
		cp_sim_describe(&plan->machine[i], &command->machine[i]);
		for (unsigned w = 0; w < CP_SIM_NWORDS; w++)
			add_word(command, command->machine[i].word[w]);
	}
	add_wishes(command, directory, wishes);
	add_cpu(command, &plan->machine[0], wishes->cpu);
	add_plan(command, plan, directory);
	add_word(command, "--");
}

static char **whole_argv(
	struct cp_store *store, const struct command *command, char **argv)
{
	size_t own = command->count, theirs = cp_env_count(argv);
	char **all = cp_store_take(store, (own + theirs + 2) * sizeof(*all));

	if (!all)
		return NULL;
	memcpy(all, command->argv, own * sizeof(*all));
	all[own] = (char *)(uintptr_t)program_path(argv[0] ? argv[0] : "");
	if (theirs > 1)
		memcpy(all + own + 1, argv + 1, (theirs - 1) * sizeof(*all));
	return all;
}

/* The caller's variables and ours; VALGRIND_LIB is where the core looks for
 * its parts, VALGRIND_LAUNCHER only has to exist. */
static char **whole_environment(
	struct cp_store *store, struct command *command, char **argv, char *const added[])
{
	static char launcher[] = "VALGRIND_LAUNCHER=/proc/self/exe";
	size_t given = cp_env_count(added), length = strlen(argv[0] ? argv[0] : "");
	char **more = cp_store_take(store, (given + 6) * sizeof(*more));
	char **all = cp_store_take(
		store, (cp_env_count(cp_env_all()) + given + 7) * sizeof(*all));
	char *name = cp_store_take(store, length + sizeof(ARGV0) + 1);
	char *exe = cp_store_take(store, PATH_MAX + sizeof(EXE) + 1);

	if (!more || !all || !name || !exe)
		return NULL;
	cp_format(name, length + sizeof(ARGV0) + 1, ARGV0 "=%s", argv[0] ? argv[0] : "");
	cp_format(exe, PATH_MAX + sizeof(EXE) + 1, EXE "=%s", cp_own_executable());
	memcpy(more, added, given * sizeof(*more));
	more[given] = command->lib;
	more[given + 1] = launcher;
	more[given + 2] = name;
	more[given + 3] = exe;
	more[given + 4] = command->self;
	cp_env_merge(all, cp_env_all(), more);
	return all;
}

int cp_reexec(char **argv, char *const added[], const struct cp_plan *plan,
	const char *run_directory, const struct cp_sim_wishes *wishes, struct cp_why *why)
{
	static struct command command; /* its strings must outlive this frame */
	struct cp_store store = {0};
	char directory[PATH_MAX];
	const char *refused;
	char **all, **environment;
	rlim_t before;
	int result = cp_reexec_possible(why);

	if (result < 0 || companion_directory(directory, sizeof(directory)) < 0)
		return -ENOENT;
	refused = cp_sim_refuses(program_path(argv[0] ? argv[0] : ""));
	if (refused) {
		cp_format(why->text, sizeof(why->text),
			"the simulated PMU cannot run %s: %s", cp_own_executable(),
			refused);
		return -EACCES;
	}
	cp_format(command.tool, sizeof(command.tool), "%s/%s", directory, CP_SIM_TOOL);
	cp_format(command.lib, sizeof(command.lib), "VALGRIND_LIB=%s", directory);
	command.count = 0;
	add_options(&command, plan, run_directory, wishes);
	all = whole_argv(&store, &command, argv);
	environment = whole_environment(&store, &command, argv, added);
	if (!all || !environment) {
		cp_store_free(&store);
		cp_format(why->text, sizeof(why->text), "no memory");
		return -ENOMEM;
	}
	cp_fd_narrow();
	before = cp_numbers_raise();
	result = (int)cp_syscall(SYS_execve, command.tool, all, environment);
	cp_numbers_lower(before);
	cp_store_free(&store);
	cp_format(why->text, sizeof(why->text),
		"the simulated PMU %s does not start (errno %d)", command.tool, -result);
	return result;
}

/* ---- in the new image ---- */

/* The core has opened the log, which is our number, once more under a number of its
 * own, and left that open which was the lowest free one. */
static void close_log(uint64_t fd, uint64_t low)
{
	struct stat ours, leaked;

	if (cp_fd_stat((int)fd, &ours) == 0 && cp_fd_stat((int)low, &leaked) == 0 &&
		S_ISREG(ours.st_mode) && ours.st_dev == leaked.st_dev &&
		ours.st_ino == leaked.st_ino)
		cp_syscall(SYS_close, (int)low);
	cp_syscall(SYS_close, (int)fd);
}

static void restore_name(const char *self)
{
	const char *end;
	uint64_t fd, low, program;

	if (!self || cp_parse_u64_prefix(self, &end, &fd) < 0 || *end != ':' ||
		cp_parse_u64_prefix(end + 1, &end, &low) < 0 || *end != ':' ||
		cp_parse_u64_prefix(end + 1, &end, &program) < 0 || *end != ':')
		return;
	cp_syscall(SYS_prctl, PR_SET_NAME, end + 1);
	close_log(fd, low);
	if (program != fd)
		cp_syscall(SYS_close, (int)program);
}

static void show_title(char *const argv[], char *const envp[])
{
	size_t count = cp_env_count(envp);
	const char *last = count ? envp[count - 1] : NULL;

	if (argv[0] && last)
		cp_sim_title(argv[0], envp[0], last + strlen(last) + 1);
}

void cp_reexec_restore(char **argv, char **envp)
{
	static const char *const ours[] = {ARGV0, EXE, SELF, "VALGRIND_LIB", NULL};
	const char *argv0 = cp_env_get(ARGV0), *exe = cp_env_get(EXE);
	static char room[CP_PINNED_PATH + 1];

	restore_name(cp_env_get(SELF));
	if (exe)
		cp_format(exe_path, sizeof(exe_path), "%s", exe);
	if (argv0 && argv[0])
		cp_layout_restore(argv, envp, cp_pinned_first(argv0, room), ours);
	show_title(argv, envp);
}
