/* SPDX-License-Identifier: MIT
 *	title HOW [argument...]
 * layout: says how the kernel has laid out arguments and variables.  can: returns 0 if
 * this kernel lets a process say where its strings are.  Else: gives itself another
 * title, as HOW does (nginx, postgres, sendmail, libbsd), says what its command line is
 * then, forks, starts itself as "title leaf", and returns 3.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define TITLE "title: it works"

static char path[4096];

/* ---- layout ---- */

static const char *yes(bool is)
{
	return is ? "yes" : "NO";
}

/* The program knows nothing of the library's two variables. */
static bool variables_follow(char *end)
{
	bool first = true, all = true;
	char *const *last = environ;

	for (char *const *entry = environ; *entry; last = entry++) {
		if (!strncmp(*entry, "CACHEPEEK__", 11) && *entry != end)
			continue;
		if (*entry != end)
			printf("%s: %.20s is not at %p\n", first ? "first" : "later",
				*entry, (void *)end);
		all &= *entry == end;
		end = *entry + strlen(*entry) + 1;
		first = false;
	}
	return all && *last + strlen(*last) + 1 == end;
}

static bool vector_follows(void)
{
	char **end = environ;
	bool page = false, random = false;

	while (*end)
		end++;
	for (ElfW(auxv_t) *entry = (void *)(end + 1); entry->a_type; entry++) {
		page |= entry->a_type == AT_PAGESZ && entry->a_un.a_val == 4096;
		random |= entry->a_type == AT_RANDOM &&
			  entry->a_un.a_val == getauxval(AT_RANDOM);
	}
	return page && random;
}

static int layout(int argc, char **argv)
{
	char *end = argv[0];
	bool follow = true;

	for (int i = 0; i < argc; i++) {
		follow &= argv[i] == end;
		end = argv[i] + strlen(argv[i]) + 1;
	}
	printf("each argument behind the other: %s\n", yes(follow));
	printf("each variable behind those: %s\n", yes(variables_follow(end)));
	printf("the vector behind the array: %s\n", yes(vector_follows()));
	printf("file %s\n", (const char *)getauxval(AT_EXECFN));
	printf("platform %s\n", (const char *)getauxval(AT_PLATFORM));
	printf("name %s, %s\n", program_invocation_name, argv[0]);
	return 0;
}

/* ---- titles ---- */

static void copy_environment(void)
{
	size_t count = 0;
	char **copy;

	while (environ[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(environ[i]);
	environ = copy;
}

/* The end of what lies behind the arguments without a gap. */
static char *end_of_area(int argc, char **argv)
{
	char *end = argv[0];

	for (int i = 0; i < argc; i++)
		if (argv[i] == end)
			end += strlen(argv[i]) + 1;
	for (size_t i = 0; environ[i]; i++)
		if (environ[i] == end)
			end += strlen(environ[i]) + 1;
	return end;
}

static void fill(char *from, char *end)
{
	memset(from, 0, (size_t)(end - from));
	strncpy(from, TITLE, (size_t)(end - from) - 1);
}

/* The arguments from the second on are not looked at any more. */
static void as_nginx(int argc, char **argv)
{
	char *end = end_of_area(argc, argv), *start = argv[0];

	copy_environment();
	argv[1] = NULL;
	fill(start, end);
}

static void as_postgres(int argc, char **argv)
{
	char *end = end_of_area(argc, argv), *start = argv[0];

	copy_environment();
	for (int i = 0; i < argc; i++)
		argv[i] = strdup(argv[i]);
	fill(start, end);
}

/* All up to the last variable is one area. */
static void as_sendmail(int argc, char **argv)
{
	char *last = argv[argc - 1], *start = argv[0];

	for (size_t i = 0; environ[i]; i++)
		last = environ[i];
	last += strlen(last);
	copy_environment();
	fill(start, last);
	argv[1] = NULL;
}

static void as_libbsd(int argc, char **argv)
{
	void *bsd = dlopen("libbsd.so.0", RTLD_NOW);
	void (*init)(int, char **, char **), (*set)(const char *, ...);

	if (!bsd)
		exit(77);
	*(void **)&init = dlsym(bsd, "setproctitle_init");
	*(void **)&set = dlsym(bsd, "setproctitle");
	init(argc, argv, environ);
	set("%s", TITLE);
}

static const struct {
	const char *name;
	void (*set)(int argc, char **argv);
} ways[] = {
	{"nginx", as_nginx},
	{"postgres", as_postgres},
	{"sendmail", as_sendmail},
	{"libbsd", as_libbsd},
};

/* The first string of it. */
static void show_command_line(void)
{
	char line[256];
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t length = read(fd, line, sizeof(line) - 1);

	line[length > 0 ? length : 0] = '\0';
	printf("%s\n", line);
	close(fd);
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static int go_on(char *area)
{
	char *leaf[] = {path, "leaf", NULL};
	pid_t pid;

	show_command_line();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		*area = 'T'; /* its own title */
		show_command_line();
		exit(7);
	}
	printf("%x\n", (unsigned)status_of(pid));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execve(path, leaf, environ);
		_exit(99);
	}
	printf("%x\n", (unsigned)status_of(pid));
	return 3;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "leaf";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *area = argv[0];
	unsigned size;

	if (length <= 0)
		return 98;
	if (!strcmp(how, "layout"))
		return layout(argc, argv);
	if (!strcmp(how, "can"))
		return prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) != 0;
	if (!strcmp(how, "leaf")) {
		show_command_line();
		return 5;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(how, ways[i].name))
			continue;
		ways[i].set(argc, argv);
		return go_on(area);
	}
	return 97;
}
