/* SPDX-License-Identifier: MIT
 *
 * Lines read one behind the other: from each level, and whether something fetches them
 * beforehand.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

struct stream {
	const char *memory;
	size_t bytes, stride;
	unsigned times;
};

static void run_stream(void *context)
{
	struct stream *stream = context;

	for (unsigned i = 0; i < stream->times; i++)
		for (size_t at = 0; at < stream->bytes; at += stream->stride)
			(void)*(const volatile uint64_t *)(const void *)(stream->memory +
									 at);
}

#define PIECE ((size_t)4 << 20)
enum { MOST_PIECES = 128 };

/* Cycles a line.  What is much is read once, piece by piece: no process is let alone for
 * as long as the whole takes, and of some of it the last level may have a part. */
static double stream_of(const struct cp_host *host, size_t bytes)
{
	struct stream stream = {host->memory, bytes, CP_LINE, 1};
	double took[MOST_PIECES];
	size_t pieces = 0;

	if (bytes <= 8 * PIECE) {
		while (stream.times * bytes < PIECE)
			stream.times *= 2;
		run_stream(&stream);
		return cp_best(6, (double)stream.times * (double)bytes / CP_LINE,
			       run_stream, &stream) /
		       host->ns;
	}
	stream.bytes = PIECE;
	for (; pieces < MOST_PIECES && (pieces + 1) * PIECE <= bytes; pieces++) {
		stream.memory = host->memory + pieces * PIECE;
		took[pieces] = cp_best(1, (double)PIECE / CP_LINE, run_stream, &stream);
	}
	return cp_quarter(took, pieces) / host->ns;
}

/* Cycles a line, of lines that are so many apart. */
static double lines_apart(
	const struct cp_host *host, const char *memory, size_t bytes, size_t apart)
{
	struct stream stream = {memory, bytes, apart * CP_LINE, 1};
	size_t lines = stream.bytes / stream.stride;

	while (stream.times * lines < 10000)
		stream.times *= 2;
	run_stream(&stream);
	return cp_best(12, (double)stream.times * (double)lines, run_stream, &stream) /
	       host->ns;
}

/* Lines of one bank come about as slowly as those of one set of the L1D, and lines of two
 * banks twice as fast. */
#define ABOUT_AS_SLOW 0.8

/* Lines from the L2, and from the last level, that all go to one set of the L1D, whose
 * ways are too few for them; and the banks of the L2.  Of lines of one set an L2 that
 * chooses its sets by a hash keeps more than one that does not, so that the last level's
 * are eight times what it has; other pages in each round, as some have rooms of their own
 * there and others share one. */
static void measure_sets(const struct cp_host *host, struct cp_round *round)
{
	const struct cp_cache *l1 = &host->machine->level[CP_L1D];
	size_t l2 = cp_host_level(host, CP_L2), far = 8 * l2, banks = 1;
	double of_set;

	if (l2 / 2 / CP_LINE < 2 * (size_t)l1->sets * l1->ways)
		return;
	of_set = lines_apart(host, host->memory, l2 / 2, l1->sets);
	while (banks < l1->sets && banks < CP_MOST_BANKS &&
		lines_apart(host, host->memory, l2 / 2, banks) < ABOUT_AS_SLOW * of_set)
		banks *= 2;
	round->value[CP_FIGURE_SAME_SET] = of_set;
	round->value[CP_FIGURE_BANKS] = (double)banks;
	if (host->huge && 2 * far <= cp_host_level(host, CP_LLC) && far <= host->bytes)
		round->value[CP_FIGURE_LLC_SET] = lines_apart(host,
			host->memory + host->round % (host->bytes / far) * far, far,
			l1->sets);
}

static void run_stores(void *context)
{
	struct stream *stream = context;
	char *memory = (char *)(uintptr_t)stream->memory;

	for (unsigned i = 0; i < stream->times; i++)
		for (size_t at = 0; at < stream->bytes; at += stream->stride)
			*(volatile uint64_t *)(void *)(memory + at) = at;
}

/* Cycles of a line that is stored to, some bytes behind the one before; the L2 has all.
 */
static double stores_of(const struct cp_host *host, size_t lines, size_t stride)
{
	struct stream stream = {host->scratch, lines * stride, stride, 1};

	while (stream.times * lines < 10000)
		stream.times *= 2;
	run_stores(&stream);
	return cp_best(12, (double)stream.times * (double)lines, run_stores, &stream) /
	       host->ns;
}

static void measure_stores(const struct cp_host *host, struct cp_round *round)
{
	const struct cp_cache *l1 = &host->machine->level[CP_L1D];
	size_t lines = 2 * (size_t)l1->sets * l1->ways;

	if (4 * cp_host_level(host, CP_L1D) > cp_host_level(host, CP_L2))
		return;
	round->value[CP_FIGURE_STORE_LINE] = stores_of(host, lines, CP_LINE);
	round->value[CP_FIGURE_SET_LINE] =
		stores_of(host, CP_SET_LINES, (size_t)l1->sets * l1->line);
}

/* More than any last level holds much of. */
static size_t most_of(const struct cp_host *host)
{
	size_t most = 4 * cp_host_level(host, CP_LLC);

	return most && most < host->bytes ? most : host->bytes;
}

/* ---- lines of the memory ---- */

/* Where all that there is of it may be in the last level: lines that no cache has. */
static double flushed_stream(const struct cp_host *host)
{
	struct stream stream = {host->memory, PIECE, CP_LINE, 1};
	double took[MOST_PIECES];
	size_t pieces = 0;

	for (; pieces < MOST_PIECES && (pieces + 1) * PIECE <= host->bytes; pieces++) {
		stream.memory = host->memory + pieces * PIECE;
		for (size_t at = 0; at < PIECE; at += CP_LINE)
			cp_flush_line(host->memory + pieces * PIECE + at);
		cp_flush_end();
		took[pieces] = cp_best(1, (double)PIECE / CP_LINE, run_stream, &stream);
	}
	return cp_quarter(took, pieces) / host->ns;
}

static double memory_stream(const struct cp_host *host)
{
	if (host->bytes <= cp_host_level(host, CP_LLC))
		return flushed_stream(host);
	return stream_of(host, most_of(host));
}

/* ---- is something there that fetches the next lines? ---- */

enum { CHAIN = 50000, CHAIN_TRIES = 4 };

/* Loads that depend on each other, line by line: as slow as from all over the memory,
 * where nothing does. */
static void run_chain(void *context)
{
	void ***at = context;

	for (unsigned i = 0; i < CHAIN; i++)
		*at = *(void **volatile *)*at;
}

/* `flushed`: from memory, whatever of the piece the last level has room for. */
static double next_lines(const struct cp_host *host, size_t bytes, bool flushed)
{
	size_t lines = bytes / CP_LINE, most = (size_t)CHAIN * CHAIN_TRIES;
	void **at = (void **)(void *)host->pages;

	for (size_t i = 0; i < lines; i++)
		*(void **)(void *)(host->pages + i * CP_LINE) =
			host->pages + (i + 1) % lines * CP_LINE;
	for (size_t i = 0; flushed && i < lines && i < most; i++)
		cp_flush_line(host->pages + i * CP_LINE);
	cp_flush_end();
	return cp_best(CHAIN_TRIES, CHAIN, run_chain, &at) / host->ns;
}

void cp_measure_streams(struct cp_host *host, struct cp_round *round)
{
	size_t l1 = cp_host_level(host, CP_L1D), l2 = cp_host_level(host, CP_L2),
	       llc = cp_host_level(host, CP_LLC);

	if (l2) {
		round->value[CP_FIGURE_STREAM_L2] = stream_of(host, (l1 + l2) / 2);
		measure_sets(host, round);
		measure_stores(host, round);
	}
	if (llc)
		round->value[CP_FIGURE_STREAM_LLC] =
			stream_of(host, cp_host_llc_piece(host));
	if (cp_host_is_late(host))
		return;
	round->value[CP_FIGURE_STREAM_MEMORY] = memory_stream(host);
	round->value[CP_FIGURE_PREFETCH] =
		round->value[CP_FIGURE_MEMORY] / next_lines(host, host->page_bytes, true);
	/* A little more than the L2 has: of more the last level may not have all. */
	if (llc && 2 * l2 <= host->page_bytes)
		round->value[CP_FIGURE_NEAR] = next_lines(host, 2 * l2, false);
}
