/* SPDX-License-Identifier: MIT
 *
 * Process 1 of the emulated machine: does what the lines of /tests say, and
 * switches the machine off.
 *
 *	set PATH VALUE                             a sysctl
 *	run NAME [uid=N] [VAR=VALUE …] PROGRAM [ARG …]
 *	let VAR PROGRAM [ARG …]                    sets VAR to what the program prints
 *	compare NAME [OPTION …] PROGRAM [ARG …]    with options of the simulator
 *	print NAME [OPTION …] PROGRAM [ARG …]      in the simulator
 *	time NAME [OPTION …] PROGRAM [ARG …]       in the simulator: "@time NAME
 *MICROSECONDS"
 *
 * A run is made under the library.  The console then shows, for the host:
 *
 *	@begin NAME
 *	what the program printed
 *	@report NAME
 *	the JSON report
 *	@end NAME STATUS
 *
 * A comparison runs the program alone and in the simulator.  The console shows lines
 * that differ, the first few of them, those of what the program printed alone that begin
 * with "of ", and
 *
 *	@compared NAME alone STATUS simulated STATUS lines N differ N
 *
 * What is to be printed is between "@begin NAME" and "@printed NAME STATUS".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static void mount_all(void)
{
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777");
}

static void use_console(void)
{
	int console = open("/dev/console", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(console, fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		printf("@error %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void report_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/tmp/%s.json", name);
}

/* In the child: the words after the name, each a setting until the program. */
static void become(const char *name, char *words)
{
	char *argv[64] = {NULL}, path[128];
	int argc = 0;

	report_path(path, sizeof(path), name);
	setenv("CACHEPEEK_OUTPUT", path, 1);
	setenv("LD_PRELOAD", "/lib/libcachepeek.so", 1);
	for (char *word = strtok(words, " "); word && argc < 63;
		word = strtok(NULL, " ")) {
		if (argc == 0 && strncmp(word, "uid=", 4) == 0) {
			if (setgid((gid_t)atoi(word + 4)) ||
				setuid((uid_t)atoi(word + 4)))
				_exit(126);
		} else if (argc == 0 && strchr(word, '=')) {
			putenv(word);
		} else {
			argv[argc++] = word;
		}
	}
	if (argc)
		execv(argv[0], argv);
	_exit(127);
}

static void print_file(const char *path)
{
	char buffer[4096];
	ssize_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (size = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)size, stdout);
	if (fd >= 0)
		close(fd);
}

static int end_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run(const char *name, char *words)
{
	char path[128];
	int status;
	pid_t pid;

	printf("@begin %s\n", name);
	pid = fork();
	if (pid == 0)
		become(name, words);
	status = end_of(pid);
	printf("@report %s\n", name);
	report_path(path, sizeof(path), name);
	print_file(path);
	printf("\n@end %s %d\n", name, status);
}

/* --- Comparing --- */

#ifdef __aarch64__
#define TOOL "/lib/libcachepeek/cachepeek-arm64-linux"
#else
#define TOOL "/lib/libcachepeek/cachepeek-amd64-linux"
#endif

/* Runs words of up to 60, with what they print in a file, and returns how that ended.
 * Options of the simulator, which come first, are left out alone. */
static int run_to(const char *path, const char *words, int is_simulated)
{
	static char *const start[] = {TOOL, "--tool=cachepeek", "-q", "--vgdb=no",
		"--vex-iropt-register-updates=allregs-at-mem-access"};
	enum { START = sizeof(start) / sizeof(*start) };
	char *argv[64] = {NULL}, copy[2048];
	int argc = is_simulated ? START : 0;
	pid_t pid = fork();

	if (pid > 0)
		return end_of(pid);
	if (!freopen(path, "w", stdout))
		_exit(126);
	snprintf(copy, sizeof(copy), "%s", words);
	memcpy(argv, start, sizeof(start));
	for (char *word = strtok(copy, " "); word && argc < 63; word = strtok(NULL, " "))
		if (is_simulated || argc || *word != '-')
			argv[argc++] = word;
	argv[argc] = NULL;
	setenv("VALGRIND_LIB", "/lib/libcachepeek", 1);
	setenv("VALGRIND_LAUNCHER", "x", 1);
	execv(argv[0], argv);
	_exit(127);
}

static void let(const char *name, const char *words)
{
	char value[1024] = "";
	FILE *printed;

	run_to("/tmp/value", words, 0);
	printed = fopen("/tmp/value", "re");
	if (printed && fgets(value, sizeof(value), printed))
		value[strcspn(value, "\n")] = '\0';
	if (printed)
		fclose(printed);
	setenv(name, value, 1);
}

struct lines {
	unsigned n, differ;
};

/* The file that ends first goes on with nothing. */
static struct lines compare_files(FILE *alone, FILE *simulated)
{
	struct lines lines = {0, 0};
	char a[1024], b[1024];

	for (;; lines.n++) {
		char *more_a = fgets(a, sizeof(a), alone);
		char *more_b = fgets(b, sizeof(b), simulated);

		if (!more_a && !more_b)
			return lines;
		if (more_a && strncmp(a, "of ", 3) == 0)
			printf("%s", a);
		if ((!more_a || !more_b || strcmp(a, b) != 0) && lines.differ++ < 20)
			printf("alone: %ssimulated: %s", more_a ? a : "nothing\n",
				more_b ? b : "nothing\n");
	}
}

static void compare(const char *name, const char *words)
{
	int alone = run_to("/tmp/alone", words, 0);
	int simulated = run_to("/tmp/simulated", words, 1);
	FILE *a = fopen("/tmp/alone", "re"), *b = fopen("/tmp/simulated", "re");
	struct lines lines = {0, 0};

	if (a && b)
		lines = compare_files(a, b);
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	printf("@compared %s alone %d simulated %d lines %u differ %u\n", name, alone,
		simulated, lines.n, lines.differ);
}

static void print_simulated(const char *name, const char *words)
{
	int status = run_to("/tmp/simulated", words, 1);

	printf("@begin %s\n", name);
	print_file("/tmp/simulated");
	printf("@printed %s %d\n", name, status);
}

static int64_t microseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void tell_time(const char *name, const char *words)
{
	int64_t start = microseconds_now();
	int status = run_to("/tmp/simulated", words, 1);

	printf("@time %s %lld", name, (long long)(microseconds_now() - start));
	printf(status ? ", status %d\n" : "\n", status);
}

static void do_line(char *line)
{
	char *rest = line, *verb = strsep(&rest, " "), *what = strsep(&rest, " ");

	if (!what || !rest)
		printf("@error not understood: %s\n", line);
	else if (strcmp(verb, "set") == 0)
		set(what, rest);
	else if (strcmp(verb, "run") == 0)
		run(what, rest);
	else if (strcmp(verb, "let") == 0)
		let(what, rest);
	else if (strcmp(verb, "compare") == 0)
		compare(what, rest);
	else if (strcmp(verb, "print") == 0)
		print_simulated(what, rest);
	else if (strcmp(verb, "time") == 0)
		tell_time(what, rest);
	else
		printf("@error no such verb: %s\n", verb);
}

int main(void)
{
	char line[2048];
	FILE *tests;

	mount_all();
	use_console();
	tests = fopen("/tests", "re");
	while (tests && fgets(line, sizeof(line), tests)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			do_line(line);
	}
	printf("@off\n");
	fflush(stdout);
	tcdrain(1);
	reboot(RB_POWER_OFF);
	return 0;
}
