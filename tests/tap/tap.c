/* SPDX-License-Identifier: MIT */
#include "tests/tap/tap.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_SIZE 4096

/* Guards everything below, and is held over the write of an assertion, so that
 * lines appear in the order of their numbers. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	pid_t owner; /* who planned; 0: nobody yet */
	bool lazy, done;
	unsigned planned, run, failed;
	unsigned todo_left;
	char todo_why[256];
} state;

struct line {
	char text[LINE_MAX_SIZE];
	size_t length;
};

static void add_v(struct line *line, const char *format, va_list args)
{
	size_t room = sizeof(line->text) - 1 - line->length; /* 1: the newline */
	int length = vsnprintf(line->text + line->length, room, format, args);

	if (length > 0)
		line->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void TAP_PRINTF(2, 3) add(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_v(line, format, args);
	va_end(args);
}

static void send(struct line *line, int fd)
{
	line->text[line->length++] = '\n';
	if (write(fd, line->text, line->length) != (ssize_t)line->length)
		_exit(254);
}

static bool is_owner(void)
{
	return state.owner == getpid();
}

static int verdict(void)
{
	struct line line = {.length = 0};

	if (state.lazy) {
		add(&line, "1..%u", state.run);
		send(&line, STDOUT_FILENO);
	} else if (state.run != state.planned) {
		add(&line, "# planned %u tests but ran %u", state.planned, state.run);
		send(&line, STDERR_FILENO);
		return 1;
	}
	return state.failed || !state.run;
}

static void finish(int status, void *unused)
{
	(void)unused;
	if (!is_owner() || state.done)
		return;
	state.done = true;
	if (verdict() && !status)
		_exit(1);
}

/* Registered when the test plans, so it runs after what the test registers. */
static void begin(bool lazy, unsigned count)
{
	if (state.owner)
		bail("planned twice");
	state.owner = getpid();
	state.lazy = lazy;
	state.planned = count;
	on_exit(finish, NULL);
}

void plan(unsigned count)
{
	struct line line = {.length = 0};

	begin(false, count);
	add(&line, "1..%u", count);
	send(&line, STDOUT_FILENO);
}

void plan_lazy(void)
{
	begin(true, 0);
}

void skip_all(const char *format, ...)
{
	struct line line = {.length = 0};
	va_list args;

	if (state.owner)
		bail("skip_all after a plan");
	add(&line, "1..0 # SKIP ");
	va_start(args, format);
	add_v(&line, format, args);
	va_end(args);
	send(&line, STDOUT_FILENO);
	exit(0);
}

/* TAP gives '#' in a description a meaning of its own. */
static void add_name(struct line *line, const char *format, va_list args)
{
	size_t start = line->length;

	if (!format)
		return;
	add(line, " - ");
	add_v(line, format, args);
	for (size_t i = start; i < line->length; i++)
		if (line->text[i] == '#' || line->text[i] == '\n')
			line->text[i] = line->text[i] == '#' ? '@' : ' ';
}

static void count_result(struct line *line, bool held)
{
	if (state.todo_left) {
		state.todo_left--;
		add(line, " # TODO %s", state.todo_why);
	} else if (!held) {
		state.failed++;
	}
}

static void result(bool held, const char *format, va_list args)
{
	struct line line = {.length = 0};

	if (!state.owner)
		bail("an assertion before the plan");
	if (!is_owner())
		return;
	pthread_mutex_lock(&lock);
	add(&line, "%s %u", held ? "ok" : "not ok", ++state.run);
	add_name(&line, format, args);
	count_result(&line, held);
	send(&line, STDOUT_FILENO);
	pthread_mutex_unlock(&lock);
}

#define RESULT(held)                                                                     \
	do {                                                                             \
		va_list args;                                                            \
		va_start(args, format);                                                  \
		result(held, format, args);                                              \
		va_end(args);                                                            \
	} while (0)

bool ok(bool condition, const char *format, ...)
{
	RESULT(condition);
	return condition;
}

bool is_int(long long got, long long want, const char *format, ...)
{
	RESULT(got == want);
	if (got != want)
		diag(" got: %lld\nwant: %lld", got, want);
	return got == want;
}

bool is_u64(uint64_t got, uint64_t want, const char *format, ...)
{
	RESULT(got == want);
	if (got != want)
		diag(" got: %llu (0x%llx)\nwant: %llu (0x%llx)", (unsigned long long)got,
			(unsigned long long)got, (unsigned long long)want,
			(unsigned long long)want);
	return got == want;
}

static void diag_string(const char *label, const char *text)
{
	if (text)
		diag("%s: \"%s\"", label, text);
	else
		diag("%s: NULL", label);
}

bool is_string(const char *got, const char *want, const char *format, ...)
{
	bool same = got && want ? !strcmp(got, want) : got == want;

	RESULT(same);
	if (!same) {
		diag_string(" got", got);
		diag_string("want", want);
	}
	return same;
}

bool is_double_near(double got, double want, double epsilon, const char *format, ...)
{
	bool near = fabs(got - want) <= epsilon || got == want;

	RESULT(near);
	if (!near)
		diag(" got: %.17g\nwant: %.17g within %g", got, want, epsilon);
	return near;
}

void skip(unsigned count, const char *format, ...)
{
	if (!is_owner())
		return;
	pthread_mutex_lock(&lock);
	for (; count; count--) {
		struct line line = {.length = 0};
		va_list args;

		add(&line, "ok %u # SKIP ", ++state.run);
		va_start(args, format);
		add_v(&line, format, args);
		va_end(args);
		send(&line, STDOUT_FILENO);
	}
	pthread_mutex_unlock(&lock);
}

void todo(unsigned count, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	state.todo_left = count;
	va_start(args, format);
	vsnprintf(state.todo_why, sizeof(state.todo_why), format, args);
	va_end(args);
	pthread_mutex_unlock(&lock);
}

void diag(const char *format, ...)
{
	char text[LINE_MAX_SIZE / 2];
	va_list args;

	if (state.owner && !is_owner())
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *rest = text, *part; (part = strsep(&rest, "\n"));) {
		struct line line = {.length = 0};

		add(&line, "# %s", part);
		send(&line, STDERR_FILENO);
	}
}

void bail(const char *format, ...)
{
	struct line line = {.length = 0};
	va_list args;

	add(&line, "Bail out! ");
	va_start(args, format);
	add_v(&line, format, args);
	va_end(args);
	send(&line, STDOUT_FILENO);
	_exit(255);
}

unsigned tap_repeats(unsigned n)
{
	const char *tool = getenv("SANITIZE");

	return tool && strcmp(tool, "memcheck") == 0 ? n / 10 : n;
}

void tap_no_memory(void)
{
	bail("no memory");
}
