/* SPDX-License-Identifier: MIT */
#include "tools/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static bool is_known(const char *output)
{
	return strcmp(output, "-") == 0 || strcmp(output, "stderr") == 0 ||
	       strncmp(output, "/dev/", 5) == 0 || cp_ends_with(output, ".txt") ||
	       cp_ends_with(output, ".json") || cp_ends_with(output, ".csv");
}

bool cp_outputs_add(struct cp_outputs *outputs, struct cp_arena *arena,
	const char *command, const char *list)
{
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&list, ',', &length))) {
		const char *output = cp_arena_copy(arena, piece, length);

		if (!is_known(output) || outputs->count == CP_MAX_OUTPUTS) {
			fprintf(stderr, "cachepeek: %s: output %s: %s\n", command, output,
				is_known(output) ? "16 are enough"
						 : "use -, stderr, or a file that ends "
						   "in .txt, .json or .csv");
			return false;
		}
		outputs->names[outputs->count++] = output;
	}
	return true;
}

static int complain(const char *output, int error)
{
	fprintf(stderr, "cachepeek: output %s: %s\n", output, strerror(error));
	return 1;
}

static int write_table(const struct cp_document *document, const char *output)
{
	bool standard = strcmp(output, "-") == 0, error = strcmp(output, "stderr") == 0;
	const char *no_colour = getenv("NO_COLOR");
	int fd = standard ? STDOUT_FILENO : STDERR_FILENO, result;
	struct cp_out out;

	if (!standard && !error)
		fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return complain(output, errno);
	cp_out_open(&out, fd);
	if (cp_ends_with(output, ".csv"))
		document->csv(document->of, &out);
	else
		document->text(
			document->of, &out, isatty(fd) && !(no_colour && *no_colour));
	result = cp_out_flush(&out);
	if (fd > STDERR_FILENO && close(fd) < 0 && !result)
		result = -errno;
	return result ? complain(output, -result) : 0;
}

static int save(const json_t *made, const char *output)
{
	bool standard = strcmp(output, "json") == 0, failed;
	FILE *file = standard ? stdout : fopen(output, "we");

	if (!file)
		return complain(output, errno);
	failed = !made ||
		 json_dumpf(made, file, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) < 0 ||
		 fputc('\n', file) == EOF;
	failed |= (standard ? fflush(file) : fclose(file)) != 0;
	return failed ? complain(standard ? "-" : output, made ? errno : ENOMEM) : 0;
}

static int write_json(const struct cp_document *document, const char *output)
{
	json_t *made = document->json(document->of);
	int status = save(made, output);

	json_decref(made);
	return status;
}

static int write_one(const struct cp_document *document, const char *output)
{
	if (strcmp(output, "json") == 0 || cp_ends_with(output, ".json"))
		return write_json(document, output);
	return write_table(document, output);
}

int cp_outputs_write(const struct cp_outputs *outputs, const char *otherwise,
	const struct cp_document *document)
{
	int status = 0;

	if (!outputs->count)
		return write_one(document, otherwise);
	for (size_t i = 0; i < outputs->count; i++)
		status |= write_one(document, outputs->names[i]);
	return status;
}
