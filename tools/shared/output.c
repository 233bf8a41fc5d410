/* SPDX-License-Identifier: MIT */
#include "tools/shared/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "tools/shared/check.h"

static struct cp_output *open_now;

static void make_directories(const char *path)
{
	char copy[CP_NEW_FILE_PATH];

	cp_format(copy, sizeof(copy), "%s", path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0777); /* errors show when the file is opened */
		*slash = '/';
	}
}

static const char *open_file(struct cp_output *output)
{
	bool standard =
		strcmp(output->name, "-") == 0 || strcmp(output->name, "-.json") == 0;

	if (standard || strcmp(output->name, "stderr") == 0) {
		output->file.fresh[0] = '\0';
		output->file.fd = dup(standard ? STDOUT_FILENO : STDERR_FILENO);
		return output->file.fd < 0 ? cp_error_text(errno) : NULL;
	}
	make_directories(output->name);
	return cp_new_file_open(&output->file, output->name, true);
}

bool cp_output_add(struct cp_output_list *list, const char *names)
{
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&names, ',', &length))) {
		if (list->count == CP_MOST_OUTPUTS) {
			fprintf(stderr, "cachepeek: output %.*s: %d are enough\n",
				(int)length, piece, CP_MOST_OUTPUTS);
			return false;
		}
		list->name[list->count] = strndup(piece, length);
		if (!list->name[list->count++]) {
			fprintf(stderr,
				"cachepeek: output %.*s: no memory for its name\n",
				(int)length, piece);
			return false;
		}
	}
	return true;
}

static bool has_format(const char *command, const char *name, struct cp_endings formats)
{
	char endings[160];

	if (!formats.n || cp_ending_row(name, formats) >= 0)
		return true;
	cp_endings_write(endings, sizeof(endings), formats);
	fprintf(stderr,
		"cachepeek: %s: output %s: use -, stderr, or a file that ends in %s\n",
		command, name, endings);
	return false;
}

bool cp_output_check_all(
	const char *command, const struct cp_output_list *list, struct cp_endings formats)
{
	for (size_t i = 0; i < list->count; i++)
		if (!has_format(command, list->name[i], formats) ||
			!cp_check_place(list->name[i]))
			return false;
	return true;
}

bool cp_output_open(struct cp_output *output, const char *name)
{
	const char *why;

	output->name = name ? name : "stderr";
	why = open_file(output);
	if (why) {
		fprintf(stderr,
			"cachepeek: output %s: %s: choose a file that can be written\n",
			output->name, why);
		return false;
	}
	cp_out_open(&output->out, output->file.fd);
	open_now = output;
	return true;
}

bool cp_output_is_stream(const struct cp_output *output)
{
	return strcmp(output->name, "stderr") == 0 || strcmp(output->name, "-") == 0;
}

int cp_output_close(struct cp_output *output)
{
	int error = cp_out_flush(&output->out);

	open_now = NULL;
	error = cp_new_file_finish(&output->file, error);
	if (!error)
		return 0;
	fprintf(stderr, "cachepeek: output %s: %s: the file is %s\n", output->name,
		cp_error_text(error),
		output->file.fresh[0] ? "left as it was" : "incomplete");
	return 1;
}

int cp_output_write_all(const struct cp_output_list *list, struct cp_endings formats,
	cp_output_writer *write, const void *document)
{
	struct cp_output output;
	int status = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!cp_output_open(&output, list->name[i])) {
			status = 1;
			continue;
		}
		write(&output, cp_ending_row(list->name[i], formats), document);
		status |= cp_output_close(&output);
	}
	return status;
}

void cp_output_abandon(void)
{
	if (open_now)
		cp_new_file_finish(&open_now->file, -ENOMEM);
	open_now = NULL;
}

bool cp_output_check(const char *name)
{
	struct cp_output output;
	struct stat there;

	/* Whoever reads from a FIFO would see it end. */
	if (name && stat(name, &there) == 0 && !S_ISREG(there.st_mode))
		return true;
	if (!cp_output_open(&output, name))
		return false;
	cp_output_abandon();
	return true;
}
