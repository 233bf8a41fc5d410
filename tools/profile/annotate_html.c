/* SPDX-License-Identifier: MIT
 *
 * The page of a file of source: the text of annotate.c, escaped, and no script.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/html.h"
#include "tools/profile/annotate.h"

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static void put_escaped(struct cp_out *out, const char *text, size_t length)
{
	size_t plain = 0;

	for (size_t i = 0; i < length; i++) {
		const char *instead = entity_of(text[i]);

		if (!instead)
			continue;
		cp_out_bytes(out, text + plain, i - plain);
		cp_out_text(out, instead);
		plain = i + 1;
	}
	cp_out_bytes(out, text + plain, length - plain);
}

static void put_text(struct cp_out *out, const char *name, const void *data)
{
	const int *fd = data;
	char text[4096];
	ssize_t n;

	(void)name;
	while ((n = read(*fd, text, sizeof(text))) > 0)
		put_escaped(out, text, (size_t)n);
}

void cp_annotate_write_html(struct cp_out *out, const struct cp_profile_view *view,
	struct cp_rows *files, const struct cp_row *file, const char *named)
{
	int fd = memfd_create("cachepeek-annotate", MFD_CLOEXEC);
	struct cp_out text;

	cp_out_open(&text, fd);
	cp_annotate_write(&text, view, files, file, named);
	if (cp_out_flush(&text) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		cp_page_write(out, "annotate.html", put_text, &fd);
	else if (!out->error)
		out->error = errno;
	if (fd >= 0)
		close(fd);
}
