/* SPDX-License-Identifier: MIT
 *
 * libpfm4 has the tables of one architecture's PMUs, so that elsewhere names of
 * others cannot be looked up: tests/presets does this with the libpfm4 of each.
 */
#include "tools/list/presets_check.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/metrics/preset.h"
#include "base/encoder/pfm.h"

enum verdict { SOUND, ELSEWHERE, BROKEN }; /* from best to worst */

struct tally {
	const char *pmu;
	size_t presets, events, sound, elsewhere, other_versions, broken;
};

/* NAME=VALUE,… up to the slash that ends the event. */
static bool are_settings(const char *at)
{
	size_t length;

	do {
		at += *at == ',';
		length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
		if (!length || at[length] != '=')
			return false;
		at += length + 1;
		length = strspn(at, "0123456789abcdefx");
		if (!length || !isdigit((unsigned char)*at))
			return false;
		at += length;
	} while (*at == ',');
	return strcmp(at, "/") == 0;
}

/* sysfs:PATTERN/NAME=VALUE,…/ */
static enum verdict check_sysfs(const char *event, const char **reason)
{
	size_t length = strspn(event, "abcdefghijklmnopqrstuvwxyz_0123456789[]-*?");

	*reason = "write sysfs:PMU/NAME=VALUE,…/";
	return length && event[length] == '/' && are_settings(event + length + 1)
		       ? SOUND
		       : BROKEN;
}

static enum verdict check_event(const char *event, const char **reason)
{
	int error;

	if (strncmp(event, "sysfs:", 6) == 0)
		return check_sysfs(event + 6, reason);
	error = cp_encoder.check(event, reason);
	return error == -ENOENT ? ELSEWHERE : error ? BROKEN : SOUND;
}

/* The worst of its events; *event and *reason are about the last broken one. */
static enum verdict check_alternative(struct tally *tally,
	const struct cp_preset_alternative *alternative, const char **event,
	const char **reason)
{
	enum verdict worst = SOUND, verdict;
	const char *why;

	for (size_t i = 0; i < alternative->nterms; i++) {
		verdict = check_event(alternative->terms[i].event, &why);
		tally->events++;
		if (verdict == BROKEN)
			*event = alternative->terms[i].event, *reason = why;
		if (verdict > worst)
			worst = verdict;
	}
	return worst;
}

/* A preset needs one sound alternative; names beside it that this libpfm4 does
 * not know are those of other versions. */
static bool check_preset(void *context, const struct cp_preset *preset)
{
	const char *event = NULL, *reason = NULL;
	enum verdict best = BROKEN, verdict;
	struct tally *tally = context;

	for (size_t i = 0; i < preset->nalternatives; i++) {
		verdict = check_alternative(
			tally, &preset->alternatives[i], &event, &reason);
		if (verdict < best)
			best = verdict;
	}
	tally->presets++;
	tally->sound += best == SOUND;
	tally->elsewhere += best == ELSEWHERE;
	tally->other_versions += best != BROKEN && event;
	tally->broken += best == BROKEN;
	if (best == BROKEN)
		printf("broken: %s %s: %s: %s\n", tally->pmu, preset->name,
			event ? event : "no alternatives", reason ? reason : "");
	return true;
}

static void check_pmu(
	struct cp_arena *arena, const char *pmu, struct tally *total, int verbose)
{
	struct tally tally = {.pmu = pmu};

	if (cp_preset_each(arena, pmu, check_preset, &tally) < 0) {
		printf("broken: %s: its file cannot be read after %zu presets\n", pmu,
			tally.presets);
		tally.broken++;
	}
	if (verbose)
		printf("%-26s %3zu presets  %s\n", pmu, tally.presets,
			tally.broken      ? "BROKEN"
			: tally.elsewhere ? "not in this libpfm4"
					  : "sound");
	total->presets += tally.presets;
	total->events += tally.events;
	total->sound += tally.elsewhere == 0 && tally.broken == 0;
	total->elsewhere += tally.elsewhere != 0;
	total->other_versions += tally.other_versions;
	total->broken += tally.broken;
}

int cp_presets_check(struct cp_arena *arena, int pmus)
{
	const char *const *names = cp_preset_pmus(arena);
	struct tally total = {0};
	size_t count = 0;

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	cp_encoder.use_environment(environ);
	for (; names[count]; count++)
		if (strcmp(names[count], "sim") != 0)
			check_pmu(arena, names[count], &total, pmus);
	count--;
	printf("%zu PMUs, %zu presets, %zu events: %zu broken\n", count, total.presets,
		total.events, total.broken);
	printf("%zu PMUs are sound with this libpfm4, of %zu it has no table; "
	       "%zu presets have\n"
	       "names of other versions, too\n",
		total.sound, total.elsewhere, total.other_versions);
	return total.broken ? 1 : 0;
}
