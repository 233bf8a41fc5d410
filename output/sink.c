/* SPDX-License-Identifier: MIT */
#include "output/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "base/format.h"
#include "base/files/new_file.h"
#include "output/endings.h"
#include "output/formats.h"
#include "output/text/text.h"

#define MAX_PATH 4096

/* The formats of a report.  Text has options: below. */
static const struct {
	const char *ending;
	void (*write)(struct cp_out *, const struct cp_report *);
} formats[] = {{".txt", NULL},
#define X(ending, write) {ending, write},
	CP_REPORT_FORMATS(X)
#undef X
};

struct job {
	struct cp_arena *arena;
	const struct cp_report *report;
	const struct cp_sink_context *context;
	int failed;
	struct cp_new_file file; /* open if its descriptor is not -1 */
};

__attribute__((format(printf, 2, 3))) static void complain_of_job(
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

/* -1, after a complaint: its ending picks none. */
static int check_format(struct job *job, const char *path)
{
	int format = cp_ending_row(path, CP_ENDINGS(formats));
	char endings[120];

	if (format >= 0)
		return format;
	cp_endings_write(endings, sizeof(endings), CP_ENDINGS(formats));
	complain_of_job(
		job, "output %s: the ending picks the format: use %s", path, endings);
	return -1;
}

struct path {
	char text[MAX_PATH];
	size_t length;
};

static void append_text(struct path *path, const char *text, size_t length)
{
	if (length >= sizeof(path->text) - path->length)
		length = sizeof(path->text) - path->length - 1;
	memcpy(path->text + path->length, text, length);
	path->length += length;
	path->text[path->length] = '\0';
}

static void append_name(struct path *path, const char *given, const char *otherwise)
{
	const char *name = given ? given : otherwise;

	name = cp_base_name(name);
	append_text(path, name, strlen(name));
}

static void append_number(struct path *path, int number)
{
	char digits[16] = "";
	size_t length = cp_format(digits, sizeof(digits), "%d", number);

	append_text(path, digits, length);
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
		append_text(path, literal, letter == '%' || !letter ? 1 : 2);
}

/* FILE.json of the second job is FILE.2.json, and FILE.trace.json FILE.2.trace.json. What
 * has no ending that picks a format is no file of ours. */
static void insert_number(struct path *path, unsigned number)
{
	const char *ending = cp_ending_of(path->text, CP_ENDINGS(formats));
	char *point;

	if (!ending)
		return;
	path->length -= strlen(ending);
	point = path->text + path->length;
	cp_format(point, sizeof(path->text) - path->length, ".%u%s", number, ending);
	path->length = strlen(path->text);
}

static void expand_path(struct job *job, struct path *path, struct cp_slice text)
{
	path->length = 0;
	path->text[0] = '\0';
	for (; text.at < text.end; text.at++) {
		if (*text.at != '%') {
			append_text(path, text.at, 1);
			continue;
		}
		text.at++;
		expand_one(job, path, text.at < text.end ? *text.at : '\0');
	}
	if (job->context->number > 1)
		insert_number(path, job->context->number);
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
	struct cp_text_options options = {
		.width = 80, .whole = job->context->whole || fd == job->file.fd};
	struct winsize size;

	if (job->file.fd < 0 || isatty(fd))
		options.colour = cp_colour_on(job->context->colour, fd);
	if (!isatty(fd))
		return options;
	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		return options;
	if (size.ws_col >= 60)
		options.width = size.ws_col;
	options.height = size.ws_row;
	return options;
}

static bool is_json_on_stdout(struct cp_slice sink)
{
	return cp_slice_is(sink, "-.json");
}

/* Returns 0 or -errno. */
static int write_report(struct job *job, int fd, int format)
{
	struct cp_text_options options = options_for(job, fd);
	struct cp_out out;

	cp_out_open(&out, fd);
	if (formats[format].write)
		formats[format].write(&out, job->report);
	else
		cp_text_write(&out, job->arena, job->report, &options);
	return cp_out_flush(&out);
}

static void write_descriptor(struct job *job, const char *name, int fd, int format)
{
	int error = fd < 0 ? 0 : write_report(job, fd, format);

	if (error)
		complain_of_job(job,
			"output %s: %s: name a file, as CACHEPEEK_OUTPUT=report.txt",
			name, cp_error_text(error));
}

static void write_named(struct job *job, const char *path, int format)
{
	struct cp_new_file *file = &job->file;
	const char *why = cp_new_file_open(file, path, false);
	int error;

	if (why) {
		complain_of_job(job, "output %s: %s: choose a file that can be written",
			path, why);
		return;
	}
	error = write_report(job, file->fd, format);
	error = cp_new_file_finish(file, error);
	if (error)
		complain_of_job(job, "output %s: %s: %s", path, cp_error_text(error),
			file->fresh[0] ? "the file is left as it was"
				       : "the file is incomplete");
}

static void tell_number(struct job *job, const struct path *path)
{
	char line[MAX_PATH + 64];

	cp_format(line, sizeof(line), "the report of job %u of this run is in %s",
		job->context->number, path->text);
	if (job->context->complain)
		job->context->complain(job->context->complain_context, line);
}

static void write_file(struct job *job, struct path *path)
{
	int format = check_format(job, path->text);

	if (format < 0)
		return;
	if (job->context->number > 1 && job->context->tell_number)
		tell_number(job, path);
	make_directories(path);
	write_named(job, path->text, format);
}

static void write_sink(struct job *job, struct cp_slice sink)
{
	struct path path;

	if (cp_slice_is(sink, "stderr")) {
		write_descriptor(job, "stderr", job->context->stderr_fd, 0);
	} else if (cp_slice_is(sink, "-")) {
		write_descriptor(job, "-", job->context->stdout_fd, 0);
	} else if (is_json_on_stdout(sink)) {
		write_descriptor(job, "-.json", job->context->stdout_fd,
			cp_ending_row("-.json", CP_ENDINGS(formats)));
	} else if (cp_slice_length(sink)) {
		expand_path(job, &path, sink);
		write_file(job, &path);
	}
}

/* ---- which are meant ---- */

static bool has_own_name(struct cp_slice sink)
{
	for (const char *at = sink.at; at + 1 < sink.end; at++)
		if (*at == '%') {
			at++;
			if (*at == 'r' || *at == 'p')
				return true;
		}
	return false;
}

static enum cp_sink_kind kind_of(struct cp_slice sink)
{
	if (cp_slice_is(sink, "stderr") || cp_slice_is(sink, "-") ||
		is_json_on_stdout(sink))
		return CP_SINKS_STREAMS;
	return has_own_name(sink) ? CP_SINKS_OWN : CP_SINKS_FILES;
}

static struct cp_slice all_of(const char *list)
{
	return cp_slice_of(list && *list ? list : "stderr");
}

bool cp_sinks_have(const char *list, enum cp_sink_kind kind)
{
	struct cp_slice rest = all_of(list), sink;

	while (cp_slice_part(&rest, ',', &sink))
		if (cp_slice_length(sink) &&
			(kind == CP_SINKS_ALL || kind == kind_of(sink)))
			return true;
	return false;
}

int cp_sinks_write(struct cp_arena *arena, const struct cp_report *report,
	const char *list, const struct cp_sink_context *context)
{
	struct cp_slice rest = all_of(list), sink;
	struct cp_escape *outer = arena->out_of_memory, out_of_memory;
	struct job job = {arena, report, context, 0, {.fd = -1}};

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena->out_of_memory = &out_of_memory;
		while (cp_slice_part(&rest, ',', &sink))
			if (context->kind == CP_SINKS_ALL ||
				context->kind == kind_of(sink))
				write_sink(&job, sink);
	} else {
		if (job.file.fd >= 0)
			cp_new_file_finish(&job.file, -ENOMEM);
		complain_of_job(&job, "output: out of memory for the report");
	}
	arena->out_of_memory = outer;
	return job.failed;
}

int cp_sinks_check(const char *list, const struct cp_sink_context *context)
{
	struct cp_slice rest = cp_slice_of(list ? list : ""), sink;
	struct job job = {.context = context, .file.fd = -1};
	struct path path;

	while (cp_slice_part(&rest, ',', &sink)) {
		if (cp_slice_is(sink, "stderr") || cp_slice_is(sink, "-") ||
			!cp_slice_length(sink))
			continue;
		expand_path(&job, &path, sink);
		check_format(&job, path.text);
	}
	return job.failed;
}
