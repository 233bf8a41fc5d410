/* SPDX-License-Identifier: MIT
 *
 * Process 1 of the emulated machine: does what the lines of /tests say, and
 * switches the machine off.
 *
 *	set PATH VALUE                             a sysctl
 *	run NAME [uid=N] [VAR=VALUE …] PROGRAM [ARG …]
 *
 * A run is made under the library.  The console then shows, for the host:
 *
 *	@begin NAME
 *	what the program printed
 *	@report NAME
 *	the JSON report
 *	@end NAME STATUS
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
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

static void run(const char *name, char *words)
{
	char path[128];
	int status = 0;
	pid_t pid;

	printf("@begin %s\n", name);
	pid = fork();
	if (pid == 0)
		become(name, words);
	waitpid(pid, &status, 0);
	printf("@report %s\n", name);
	report_path(path, sizeof(path), name);
	print_file(path);
	printf("\n@end %s %d\n", name,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
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
	reboot(RB_POWER_OFF);
	return 0;
}
