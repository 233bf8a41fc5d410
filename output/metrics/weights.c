/* SPDX-License-Identifier: MIT */
#include "output/metrics/weights.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/text/table.h"

/* key: in JSON.  behind: the level that serves what this one would have.  front: the
 * one that takes no more cycles. */
static const struct {
	const char *name, *older, *key;
	double usual;
	enum cp_weight_of behind, front;
} known[CP_NWEIGHTS] = {
	[CP_OF_L1] = {"L1_CYCLES", "LAT_L1", "l1", 4, CP_OF_L2, CP_OF_L1},
	[CP_OF_L2] = {"L2_CYCLES", "LAT_L2", "l2", 14, CP_OF_L3, CP_OF_L1},
	[CP_OF_L3] = {"L3_CYCLES", "LAT_L3", "llc", 45, CP_OF_MEMORY, CP_OF_L2},
	[CP_OF_MEMORY] = {"MEMORY_CYCLES", "LAT_MEM", "memory", 250, CP_OF_MEMORY,
		CP_OF_L3},
	[CP_OF_ONE_HOP] = {"ONE_HOP_CYCLES", "", "one_hop", 400, CP_OF_MEMORY,
		CP_OF_MEMORY},
	[CP_OF_TWO_HOPS] = {"TWO_HOPS_CYCLES", "", "two_hops", 550, CP_OF_MEMORY,
		CP_OF_ONE_HOP},
	[CP_OF_NEAR_CACHE] = {"NEAR_CACHE_CYCLES", "", "near_cache", 0, CP_OF_L3,
		CP_OF_L3},
	[CP_OF_FAR_CACHE] = {"FAR_CACHE_CYCLES", "", "far_cache", 0, CP_OF_ONE_HOP,
		CP_OF_ONE_HOP},
};

#define ONE_SOCKET CP_OF_ONE_HOP /* has those before it */
#define MOST 1e9                 /* cycles: more is no latency */

static double cycles_of(const struct cp_weights *weights, enum cp_weight_of of)
{
	while (weights->of[of].from == CP_WEIGHT_NONE && known[of].behind != of)
		of = known[of].behind;
	return weights->of[of].cycles;
}

/* The weight of the nearest level in front that exists. */
static double in_front(const struct cp_weights *weights, enum cp_weight_of of)
{
	enum cp_weight_of front = known[of].front;

	while (weights->of[front].from == CP_WEIGHT_NONE && known[front].front != front)
		front = known[front].front;
	return front == of ? 0 : weights->of[front].cycles;
}

void cp_weight_state(
	struct cp_weights *weights, enum cp_weight_of of, double said, bool assumed)
{
	double least = in_front(weights, of);
	struct cp_weight weight = {CP_WEIGHT_MACHINE, said};

	if (said <= 0)
		weight.cycles = known[of].usual > least ? known[of].usual : least;
	if (said <= 0 || assumed)
		weight.from = CP_WEIGHT_ASSUMED;
	weights->of[of] = weight;
}

struct cp_weights cp_weights_assumed(void)
{
	struct cp_weights weights = {.of = {{CP_WEIGHT_NONE, 0}}};

	for (enum cp_weight_of of = CP_OF_L1; of < ONE_SOCKET; of++)
		cp_weight_state(&weights, of, 0, true);
	return weights;
}

/* ---- names ---- */

enum cp_weight_of cp_weight_find(const char *name)
{
	enum cp_weight_of of = CP_OF_L1;

	while (of < CP_NWEIGHTS && strcmp(name, known[of].name) != 0 &&
		(!*known[of].older || strcmp(name, known[of].older) != 0))
		of++;
	return of;
}

const char *cp_weight_name(enum cp_weight_of of)
{
	return known[of].name;
}

bool cp_weight_value(
	const struct cp_weights *weights, const char *name, struct cp_value *value)
{
	enum cp_weight_of of = cp_weight_find(name);

	if (of == CP_NWEIGHTS)
		return false;
	*value = (struct cp_value){
		.value = cycles_of(weights, of), .status = CP_ESTIMATED};
	return true;
}

/* "machine", "assumed", "user"; NULL: there is no such level. */
static const char *name_of_source(enum cp_weight_from from)
{
	static const char *const names[CP_NWEIGHT_FROM] = {
		NULL, "machine", "assumed", "user"};

	return names[from];
}

const char *cp_weight_key(enum cp_weight_of of)
{
	return known[of].key;
}

/* ---- as text ---- */

/* "l2=14:machine llc=none …" */
void cp_weights_print(const struct cp_weights *weights, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS && used < size; of++) {
		const struct cp_weight *weight = &weights->of[of];
		const char *from = name_of_source(weight->from);

		if (from)
			used += cp_format(to + used, size - used, "%s=%.3f:%s ",
				known[of].key, weight->cycles, from);
		else
			used += cp_format(
				to + used, size - used, "%s=none ", known[of].key);
	}
}

/* Reads a number that cp_format("%.3f") has written. */
static bool read_cycles(const char *at, const char **end, double *cycles)
{
	uint64_t whole, thousandths;

	if (cp_parse_u64_prefix(at, end, &whole) < 0 || **end != '.' ||
		cp_parse_u64_prefix(*end + 1, end, &thousandths) < 0 || **end != ':')
		return false;
	*cycles = (double)whole + (double)thousandths / 1000;
	return *cycles <= MOST;
}

/* Where "key=" ends; NULL: it is not there. */
static const char *behind_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = text; (at = strstr(at, key)); at += length)
		if ((at == text || at[-1] == ' ') && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static bool read_weight(const char *text, const char *key, struct cp_weight *weight)
{
	const char *at = behind_key(text, key), *end;
	double cycles;

	if (!at)
		return false;
	if (cp_starts_with(at, "none")) {
		*weight = (struct cp_weight){CP_WEIGHT_NONE, 0};
		return true;
	}
	if (!read_cycles(at, &end, &cycles))
		return false;
	for (int from = CP_WEIGHT_MACHINE; from < CP_NWEIGHT_FROM; from++)
		if (cp_starts_with(end + 1, name_of_source((enum cp_weight_from)from))) {
			*weight = (struct cp_weight){(enum cp_weight_from)from, cycles};
			return true;
		}
	return false;
}

struct cp_weights cp_weights_read(const char *text)
{
	struct cp_weights weights = cp_weights_assumed();

	for (enum cp_weight_of of = CP_OF_L1; text && of < CP_NWEIGHTS; of++)
		read_weight(text, known[of].key, &weights.of[of]);
	return weights;
}

const char *cp_weights_text(
	struct cp_arena *arena, const struct cp_weights *weights, unsigned which)
{
	static const char *const from[CP_NWEIGHT_FROM] = {
		NULL, "machine file", "assumed", "yours"};
	const char *line = "";

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++)
		if (which & 1u << of && weights->of[of].from != CP_WEIGHT_NONE)
			line = cp_text_format(arena, "%s%s%s %g (%s)", line,
				*line ? ", " : "latencies: ", known[of].name,
				cycles_of(weights, of), from[weights->of[of].from]);
	return line;
}

/* ---- JSON ---- */

/* The end of the list: weights of several sockets count only where there are some. */
static enum cp_weight_of end_of(const struct cp_weights *weights)
{
	return weights->of[CP_OF_ONE_HOP].from == CP_WEIGHT_NONE ? ONE_SOCKET
								 : CP_NWEIGHTS;
}

static void write_cycles(struct cp_out *out, const struct cp_weight *weight)
{
	if (weight->from == CP_WEIGHT_NONE)
		cp_out_text(out, "null");
	else
		cp_out_format(out, "%.10g", weight->cycles);
}

static void write_from(struct cp_out *out, const struct cp_weight *weight)
{
	const char *from = name_of_source(weight->from);

	if (from)
		cp_out_format(out, "\"%s\"", from);
	else
		cp_out_text(out, "null");
}

static void write_object(struct cp_out *out, const struct cp_weights *weights,
	void (*write)(struct cp_out *out, const struct cp_weight *weight))
{
	for (enum cp_weight_of of = CP_OF_L1; of < end_of(weights); of++) {
		cp_out_format(out, "%s\"%s\": ", of ? ", " : "{", known[of].key);
		write(out, &weights->of[of]);
	}
	cp_out_text(out, "}");
}

void cp_weights_write_json(struct cp_out *out, const struct cp_weights *weights)
{
	cp_out_text(out, "\"latencies\": ");
	write_object(out, weights, write_cycles);
	cp_out_text(out, ",\n\"latencies_from\": ");
	write_object(out, weights, write_from);
}
