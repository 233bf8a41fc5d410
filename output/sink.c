/* SPDX-License-Identifier: MIT */
#include "output/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"
#include "output/json.h"
#include "output/text.h"

#define MAX_PATH 4096

enum format { TEXT, JSON, LATER, UNKNOWN };

struct job {
	struct cp_arena *arena;
	const struct cp_report *report;
	const struct cp_sink_context *context;
	int failed;
};

__attribute__((format(printf, 2, 3))) static void complain(
	struct job *job, const char *format, ...)
{
	char line[MAX_PATH + 200];
	va_list args;

	job->failed++;
	if (!job->context->complain)
		return;
	va_start(args, format);
	cp_vformat(line, sizeof(line), format, args);
	va_end(args);
	job->context->complain(job->context->complain_context, line);
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length > tail && strcmp(text + length - tail, ending) == 0;
}

static enum format format_of(const char *path)
{
	static const struct {
		const char *ending;
		enum format format;
	} formats[] = {{".txt", TEXT}, {".json", JSON}, {".csv", LATER}, {".html", LATER},
		{".prom", LATER}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (ends_with(path, formats[i].ending))
			return formats[i].format;
	/* Terminals and /dev/null have no endings. */
	return strncmp(path, "/dev/", 5) == 0 ? TEXT : UNKNOWN;
}

static bool check_format(struct job *job, const char *path)
{
	enum format format = format_of(path);

	if (format == LATER)
		complain(job,
			"output %s: this version does not write that format yet: use "
			".txt or .json",
			path);
	else if (format == UNKNOWN)
		complain(job, "output %s: the ending picks the format: use .txt or .json",
			path);
	return format == TEXT || format == JSON;
}

struct path {
	char text[MAX_PATH];
	size_t length;
};

static void append(struct path *path, const char *text, size_t length)
{
	if (length >= sizeof(path->text) - path->length)
		length = sizeof(path->text) - path->length - 1;
	memcpy(path->text + path->length, text, length);
	path->length += length;
	path->text[path->length] = '\0';
}

static void append_name(struct path *path, const char *given, const char *otherwise)
{
	const char *name = given ? given : otherwise, *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	append(path, name, strlen(name));
}

static void append_number(struct path *path, int number)
{
	char digits[16] = "";
	size_t length = cp_format(digits, sizeof(digits), "%d", number);

	append(path, digits, length);
}

static void expand_one(struct job *job, struct path *path, char letter)
{
	const struct cp_sink_context *context = job->context;
	char literal[2] = {'%', letter};

	if (letter == 'h')
		append_name(path, context->host, job->report ? job->report->host : "");
	else if (letter == 'e')
		append_name(path, context->exe,
			job->report ? job->report->processes[0].exe : "");
	else if (letter == 'p')
		append_number(path, context->pid);
	else if (letter == 'r')
		append_number(path, context->rank < 0 ? 0 : context->rank);
	else
		append(path, literal, letter == '%' || !letter ? 1 : 2);
}

static void expand(struct job *job, struct path *path, struct cp_slice text)
{
	path->length = 0;
	path->text[0] = '\0';
	for (; text.at < text.end; text.at++) {
		if (*text.at != '%') {
			append(path, text.at, 1);
			continue;
		}
		text.at++;
		expand_one(job, path, text.at < text.end ? *text.at : '\0');
	}
}

/* Makes the directories that lead to path; errors show when it is opened. */
static void make_directories(struct path *path)
{
	for (char *slash = strchr(path->text + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path->text, 0777);
		*slash = '/';
	}
}

static struct cp_text_options options_for(struct job *job, int fd)
{
	struct cp_text_options options = {.width = 80};
	struct winsize size;

	if (!isatty(fd))
		return options;
	options.colour = !job->context->no_colour;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
		options.width = size.ws_col;
	return options;
}

/* Returns 0 or -errno. */
static int write_report(struct job *job, int fd, enum format format)
{
	struct cp_text_options options = options_for(job, fd);
	struct cp_out out;

	cp_out_open(&out, fd);
	if (format == JSON)
		cp_json_write(&out, job->report);
	else
		cp_text_write(&out, job->arena, job->report, &options);
	return cp_out_flush(&out);
}

static void write_descriptor(struct job *job, const char *name, int fd)
{
	int error = fd < 0 ? 0 : write_report(job, fd, TEXT);

	if (error)
		complain(job,
			"output %s: %s: name a file, as CACHEPEEK_OUTPUT=report.txt",
			name, cp_error_text(error));
}

/* Nobody else's: a report names arguments.  A FIFO that nobody reads from would
 * hold the program. */
static int open_output(const char *path)
{
	int fd = open(path,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
			O_NONBLOCK,
		0600);

	if (fd >= 0)
		cp_syscall(SYS_fcntl, fd, F_SETFL, O_WRONLY);
	return fd;
}

static void write_file(struct job *job, struct path *path)
{
	int fd, error, closed;

	if (!check_format(job, path->text))
		return;
	make_directories(path);
	fd = open_output(path->text);
	if (fd < 0) {
		complain(job, "output %s: %s: choose a file that can be written",
			path->text, cp_error_text(errno));
		return;
	}
	error = write_report(job, fd, format_of(path->text));
	closed = cp_fd_close(fd);
	if (!error)
		error = closed;
	if (error)
		complain(job, "output %s: %s: the file is incomplete", path->text,
			cp_error_text(error));
}

static void write_sink(struct job *job, struct cp_slice sink)
{
	struct path path;

	if (cp_slice_is(sink, "stderr")) {
		write_descriptor(job, "stderr", job->context->stderr_fd);
	} else if (cp_slice_is(sink, "-")) {
		write_descriptor(job, "-", job->context->stdout_fd);
	} else if (cp_slice_length(sink)) {
		expand(job, &path, sink);
		write_file(job, &path);
	}
}

int cp_sinks_write(struct cp_arena *arena, const struct cp_report *report,
	const char *list, const struct cp_sink_context *context)
{
	struct cp_slice rest = cp_slice_of(list && *list ? list : "stderr"), sink;
	jmp_buf *outer = arena->out_of_memory, out_of_memory;
	struct job job = {arena, report, context, 0};

	if (setjmp(out_of_memory) == 0) {
		arena->out_of_memory = &out_of_memory;
		while (cp_slice_part(&rest, ',', &sink))
			write_sink(&job, sink);
	} else {
		complain(&job, "output: out of memory for the report");
	}
	arena->out_of_memory = outer;
	return job.failed;
}

int cp_sinks_check(const char *list, const struct cp_sink_context *context)
{
	struct cp_slice rest = cp_slice_of(list ? list : ""), sink;
	struct job job = {.context = context};
	struct path path;

	while (cp_slice_part(&rest, ',', &sink)) {
		if (cp_slice_is(sink, "stderr") || cp_slice_is(sink, "-") ||
			!cp_slice_length(sink))
			continue;
		expand(&job, &path, sink);
		check_format(&job, path.text);
	}
	return job.failed;
}
