/* SPDX-License-Identifier: MIT
 * The test library itself: run as a child in each of its modes, what it prints
 * and how it ends.
 */
#include "tests/tap/tap.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, EACH = 200 };

static void *many(void *unused)
{
	for (int i = 0; i < EACH; i++)
		ok(true, "from a thread");
	return unused;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	plan_lazy();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void forks(void)
{
	pid_t pid;
	int status;

	plan(1);
	pid = fork();
	if (!pid) {
		ok(false, "not to be seen");
		exit(7);
	}
	waitpid(pid, &status, 0);
	is_int(WEXITSTATUS(status), 7, "the child's own status");
}

static void each_kind(void)
{
	plan(9);
	ok(true, "ok");
	is_int(-3, -3, "int");
	is_u64(UINT64_MAX, UINT64_MAX, "u64");
	is_string("a", "a", "string");
	is_string(NULL, NULL, "no string");
	is_double_near(1.0, 1.05, 0.1, "near");
	is_double_near(INFINITY, INFINITY, 0, "infinite");
	skip(1, "no %s", "reason");
	todo(1, "later");
	ok(false, "not yet");
}

static void each_failure(void)
{
	plan(6);
	ok(false, "a # in %s", "a name");
	is_int(1, 2, NULL);
	is_u64(1, 2, "u64");
	is_string("a", NULL, "string");
	is_double_near(NAN, NAN, 1, "NaN");
	is_double_near(1, 2, 0.5, "far");
}

static int run_mode(const char *mode)
{
	if (!strcmp(mode, "kinds")) {
		each_kind();
	} else if (!strcmp(mode, "failures")) {
		each_failure();
	} else if (!strcmp(mode, "threads")) {
		threads();
	} else if (!strcmp(mode, "forks")) {
		forks();
	} else if (!strcmp(mode, "short")) {
		plan(2);
		ok(true, NULL);
	} else if (!strcmp(mode, "none")) {
		plan_lazy();
	} else if (!strcmp(mode, "status")) {
		plan_lazy();
		ok(true, NULL);
		return 3;
	} else if (!strcmp(mode, "skip_all")) {
		skip_all("not on %s", "this machine");
	} else if (!strcmp(mode, "bail")) {
		plan(1);
		bail("no %s", "disk");
	} else if (!strcmp(mode, "unplanned")) {
		ok(true, NULL);
	}
	return 0;
}

static char output[65536];

/* Runs this program in a mode; its stdout is in output. */
static int child(const char *mode)
{
	char command[512];
	size_t length;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "'%s' %s 2>/dev/null", program_invocation_name,
		mode);
	pipe = popen(command, "r");
	if (!pipe)
		bail("popen");
	length = fread(output, 1, sizeof(output) - 1, pipe);
	output[length] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool numbers_in_order(unsigned last)
{
	const char *line = output;

	for (unsigned i = 1; i <= last; i++) {
		char want[64];
		int length = snprintf(want, sizeof(want), "ok %u - from a thread\n", i);

		if (strncmp(line, want, (size_t)length))
			return false;
		line += length;
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_mode(argv[1]);
	plan(18);

	is_int(child("kinds"), 0, "success");
	is_string(output,
		"1..9\nok 1 - ok\nok 2 - int\nok 3 - u64\nok 4 - string\nok 5 - no "
		"string\n"
		"ok 6 - near\nok 7 - infinite\nok 8 # SKIP no reason\n"
		"not ok 9 - not yet # TODO later\n",
		"what success prints");

	is_int(child("failures"), 1, "failure");
	is_string(output,
		"1..6\nnot ok 1 - a @ in a name\nnot ok 2\nnot ok 3 - u64\nnot ok 4 - "
		"string\n"
		"not ok 5 - NaN\nnot ok 6 - far\n",
		"what failure prints");

	is_int(child("threads"), 0, "assertions from threads");
	ok(numbers_in_order(THREADS * EACH), "numbers are in order");
	ok(strstr(output, "\n1..800\n") != NULL, "the lazy plan comes last");

	is_int(child("forks"), 0, "a forked child");
	is_string(output, "1..1\nok 1 - the child's own status\n", "it prints nothing");

	is_int(child("short"), 1, "fewer than planned");
	is_int(child("none"), 1, "no test at all");
	is_int(child("status"), 3, "the test's own status");
	is_int(child("skip_all"), 0, "everything skipped");
	is_string(output, "1..0 # SKIP not on this machine\n", "what skip_all prints");
	is_int(child("bail"), 255, "bail out");
	is_string(output, "1..1\nBail out! no disk\n", "what bail prints");
	is_int(child("unplanned"), 255, "an assertion without a plan");
	is_string(output, "Bail out! an assertion before the plan\n", "is refused");
	return 0;
}
