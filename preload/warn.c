/* SPDX-License-Identifier: MIT */
#include "preload/warn.h"

#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "base/log.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/self.h"

/* Warnings made before there is a record to keep them in: one for each event that is
 * read as another, and then some. */
#define EARLY 64
static struct {
	unsigned count;
	char line[EARLY][320];
} early;

void cp_keep_warning(const char *line)
{
	if (cp_runtime.record.header)
		cp_record_put_meta(&cp_runtime.record, "warning", line, strlen(line));
	else if (early.count < EARLY)
		cp_format(early.line[early.count++], sizeof(early.line[0]), "%s", line);
}

void cp_keep_note(const char *key, const char *format, ...)
{
	char text[600];
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = cp_vformat(text, sizeof(text), format, arguments);
	va_end(arguments);
	cp_record_put_meta(&cp_runtime.record, key, text,
		length < sizeof(text) ? length : sizeof(text) - 1);
}

void cp_say_first(const char *line)
{
	/* Children, and the root after an exec, would only repeat it. */
	bool first = cp_is_root() &&
		     (!cp_runtime.record.header || cp_runtime.record.header->image == 0);

	if (first && !cp_runtime.quiet)
		cp_say("%s", line);
}

void cp_warn(const char *line)
{
	cp_self.depth++; /* from wherever it is called: keeping it takes locks */
	cp_say_first(line);
	cp_keep_warning(line);
	cp_leave();
}

void cp_keep_early_warnings(void)
{
	for (unsigned i = 0; i < early.count; i++)
		cp_record_put_meta(&cp_runtime.record, "warning", early.line[i],
			strlen(early.line[i]));
	early.count = 0;
}
