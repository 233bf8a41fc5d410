/* SPDX-License-Identifier: MIT */
#include "output/html.h"

#include <stdbool.h>
#include <string.h>

#include "base/embedded.h"
#include "output/formats.h"
#include "output/json.h"
#include "output/meanings.h"

#define MAX_NAME 64

struct page {
	struct cp_out *out;
	cp_page_part *part;
	const void *data;
};

static void put_page(const struct page *page, const char *text);

/* A file of output/html, of which those in HTML hold others; or the writer's own. */
static void put_part(const struct page *page, const char *name)
{
	const char *text = cp_embedded_find(name), *ending = strrchr(name, '.');

	if (!text)
		page->part(page->out, name, page->data);
	else if (strcmp(ending, ".html") == 0)
		put_page(page, text);
	else
		cp_out_text(page->out, text);
}

/* "@NAME@": is it all that the line holds? */
static bool part_name(char *name, const char *line, size_t length)
{
	if (length < 3 || length >= MAX_NAME || line[0] != '@' || line[length - 1] != '@')
		return false;
	memcpy(name, line + 1, length - 2);
	name[length - 2] = '\0';
	return true;
}

static void put_page(const struct page *page, const char *text)
{
	char name[MAX_NAME];
	size_t length;

	for (; *text; text += length) {
		length = strcspn(text, "\n");
		if (part_name(name, text, length))
			put_part(page, name);
		else
			cp_out_bytes(page->out, text, length + (text[length] == '\n'));
		length += text[length] == '\n';
	}
}

void cp_page_write(
	struct cp_out *out, const char *name, cp_page_part *part, const void *data)
{
	const struct page page = {out, part, data};

	put_page(&page, cp_embedded_find(name));
}

static void put_report(struct cp_out *out, const char *name, const void *data)
{
	const struct cp_report *report = data;

	if (strcmp(name, "MEANINGS") == 0)
		cp_meanings_write(out, report->groups, report->ngroups,
			report->quantities, report->nquantities);
	else
		cp_json_write_page(out, report);
}

void cp_html_write(struct cp_out *out, const struct cp_report *report)
{
	cp_page_write(out, "report.html", put_report, report);
}
