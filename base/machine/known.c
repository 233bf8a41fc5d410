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

/* "97" or "96-127", and what is behind. */
static bool parse_range(const char *word, uint32_t range[2], const char **end)
{
	uint64_t value;

	if (cp_parse_u64_prefix(word, end, &value) < 0 || value > 0xffff)
		return false;
	range[0] = range[1] = (uint32_t)value;
	if (**end != '-')
		return true;
	if (cp_parse_u64_prefix(*end + 1, end, &value) < 0 || value > 0xffff)
		return false;
	range[1] = (uint32_t)value;
	return range[1] >= range[0];
}

struct models {
	uint32_t model[2], stepping[2];
};

/* "85", "96-127", "85/5-7": steppings are of the x86. */
static bool parse_models(const char *word, bool has_steppings, struct models *models)
{
	models->stepping[0] = 0;
	models->stepping[1] = UINT32_MAX;
	if (!parse_range(word, models->model, &word))
		return false;
	if (*word == '/' && has_steppings &&
		!parse_range(word + 1, models->stepping, &word))
		return false;
	return !*word;
}

static bool is_among(const struct models *models, const struct cp_processor *processor)
{
	return processor && processor->model >= models->model[0] &&
	       processor->model <= models->model[1] &&
	       processor->stepping >= models->stepping[0] &&
	       processor->stepping <= models->stepping[1];
}

static bool is_vendor(const char *word)
{
	return CP_IS_AMONG(word, vendors);
}

static void note_first(struct cp_shown *first, const char *vendor, uint32_t family,
	const struct models *models)
{
	cp_format(first->vendor, sizeof(first->vendor), "%s", vendor);
	first->family = family;
	first->model = models->model[0];
	first->stepping = models->stepping[0];
}

bool cp_known_line(const struct place *at, const char *key, char *text,
	const struct cp_processor *processor, bool *is_it, struct cp_shown *first)
{
	bool by_cpuid = strcmp(key, "cpuid") == 0, among = false;
	const char *vendor = by_cpuid ? cp_next_word(&text) : "Arm", *word, *end;
	const char *form =
		by_cpuid ? "cpuid = VENDOR FAMILY MODEL[-MODEL][/STEPPING[-STEPPING]]..."
			 : "midr = IMPLEMENTER PART[-PART]...";
	struct models models;
	uint32_t family[2];

	if (by_cpuid && !is_vendor(vendor))
		return cp_machine_wrong(at,
			"the vendor must be AuthenticAMD, GenuineIntel or HygonGenuine",
			*vendor ? vendor : NULL);
	if (!parse_range(cp_next_word(&text), family, &end) || *end ||
		family[0] != family[1])
		return cp_machine_wrong(at, form, NULL);
	word = cp_next_word(&text);
	for (bool is_first = true; is_first || *word; is_first = false) {
		if (!parse_models(word, by_cpuid, &models))
			return cp_machine_wrong(at, form, *word ? word : NULL);
		if (is_first && by_cpuid)
			note_first(first, vendor, family[0], &models);
		among |= is_among(&models, processor);
		word = cp_next_word(&text);
	}
	*is_it = among && strcmp(processor->vendor, vendor) == 0 &&
		 processor->family == family[0];
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
	struct cp_shown first;
	bool is_it = false;

	while (!is_it && cp_machine_next_line(&at, &text, line)) {
		char *key = line;

		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		key = cp_next_word(&key);
		if (cp_known_key(key) &&
			!cp_known_line(&at, key, value, processor, &is_it, &first))
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
