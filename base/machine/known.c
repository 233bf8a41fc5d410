/* SPDX-License-Identifier: MIT */
#include "base/machine/known.h"

#include <string.h>

#include "base/format.h"
#include "base/machine/file.h"
#include "base/text.h"

/* ---- a line ---- */

static const char *const vendors[] = {"AuthenticAMD", "GenuineIntel", "HygonGenuine"};

bool cp_known_key(const char *key)
{
	return strcmp(key, "cpuid") == 0 || strcmp(key, "midr") == 0;
}

/* "97" or "96-127" */
static bool parse_range(const char *word, uint32_t *first, uint32_t *last)
{
	const char *end;
	uint64_t value;

	if (cp_parse_u64_prefix(word, &end, &value) < 0 || value > 0xffff)
		return false;
	*first = *last = (uint32_t)value;
	if (!*end)
		return true;
	if (*end != '-' || cp_parse_u64(end + 1, &value) < 0 || value > 0xffff)
		return false;
	*last = (uint32_t)value;
	return *last >= *first;
}

static bool is_vendor(const char *word)
{
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (strcmp(word, vendors[i]) == 0)
			return true;
	return false;
}

bool cp_known_line(const struct place *at, const char *key, char *text,
	const struct cp_processor *processor, bool *is_it)
{
	bool by_cpuid = strcmp(key, "cpuid") == 0, among = false;
	const char *vendor = by_cpuid ? cp_next_word(&text) : "Arm", *word;
	const char *form = by_cpuid ? "cpuid = VENDOR FAMILY MODEL[-MODEL]..."
				    : "midr = IMPLEMENTER PART[-PART]...";
	uint32_t family, last, first;

	if (by_cpuid && !is_vendor(vendor))
		return cp_machine_wrong(at,
			"the vendor must be AuthenticAMD, GenuineIntel or HygonGenuine",
			*vendor ? vendor : NULL);
	if (!parse_range(cp_next_word(&text), &family, &last) || last != family)
		return cp_machine_wrong(at, form, NULL);
	word = cp_next_word(&text);
	do {
		if (!parse_range(word, &first, &last))
			return cp_machine_wrong(at, form, *word ? word : NULL);
		among |= processor && processor->model >= first &&
			 processor->model <= last;
	} while (*(word = cp_next_word(&text)));
	*is_it = among && strcmp(processor->vendor, vendor) == 0 &&
		 processor->family == family;
	return true;
}

/* ---- the files ---- */

/* The number of its line that names the processor; 0: none, or error says what is
 * wrong. */
static unsigned line_of(const struct cp_embedded *file,
	const struct cp_processor *processor, char *error, size_t error_size)
{
	struct place at = {file->name, 0, error, error_size, false};
	const char *text = file->text;
	char line[CP_MACHINE_LINE], *value;
	bool is_it = false;

	while (!is_it && cp_machine_next_line(&at, &text, line)) {
		char *key = line;

		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		key = cp_next_word(&key);
		if (cp_known_key(key) &&
			!cp_known_line(&at, key, value, processor, &is_it))
			return 0;
	}
	return is_it ? at.line : 0;
}

const struct cp_embedded *cp_known_find(const struct cp_embedded *files,
	const struct cp_processor *processor, char *error, size_t error_size)
{
	const struct cp_embedded *found = NULL;
	unsigned found_at = 0;

	*error = '\0';
	for (const struct cp_embedded *file = files; file->name; file++) {
		unsigned line = cp_ends_with(file->name, ".machine")
					? line_of(file, processor, error, error_size)
					: 0;

		if (*error)
			return NULL;
		if (line && found) {
			cp_format(error, error_size,
				"%s:%u: names a processor that %s:%u names as well: "
				"leave it to one of them",
				file->name, line, found->name, found_at);
			return NULL;
		}
		if (line) {
			found = file;
			found_at = line;
		}
	}
	return found;
}
