/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How the lines that an instruction asks for follow one another: streams that it goes
 * through in step, pairs of lines side by side, and nodes that point to the next.
 */
#include "profile/profile.h"
#include "readable.h"

/* Lines that instructions asked for last: what streams go on from.  Neighbours are in one
 * group, mostly. */
#define GROUPS (1u << 11)
#define GROUP 8u

struct asked_line {
	ULong who;  /* the line, and whose it is */
	ULong when; /* of the instruction's own such references */
};

/* The latest reference of a thread, and what it was beside. */
struct latest {
	struct cp_profile_site *site;
	Addr address;
	Bool beside;  /* of the one before it */
	Bool counted; /* as a pair with that */
};

/* One for the process; a fork's child has sites of its own. */
static struct {
	struct asked_line *recent;
	struct latest latest;
	UInt shift; /* of a line */
} steps;

static ULong who_of(const struct cp_profile_site *site, ULong line)
{
	return line ^ (Addr)site << 40;
}

static struct asked_line *place_of(const struct cp_profile_site *site, ULong line)
{
	ULong hash = (line / GROUP + ((Addr)site >> 3)) * 0x9e3779b97f4a7c15ull;

	return &steps.recent[(hash >> 53) * GROUP + line % GROUP];
}

/* As with strides, what is most often the number holds its place. */
static void vote_streams(struct cp_profile_site *site, ULong streams)
{
	if (streams == site->streams) {
		site->in_step++;
	} else if (site->in_step * 2 < site->asked) {
		site->streams = streams;
		site->in_step = 1;
	}
}

/* When it asked for the line; 0: that is not known any more. */
static ULong time_of(const struct cp_profile_site *site, ULong line)
{
	const struct asked_line *place = place_of(site, line);

	return place->who == who_of(site, line) ? place->when : 0;
}

/* Behind its latest line is where a single stream goes on, or an access ends.  A line
 * that came back, after the one beside it, is no step. */
static void note_streams(struct cp_profile_site *site, ULong line)
{
	ULong here, beside;

	if (line - (site->last >> steps.shift) + 1 <= 2) {
		site->goes_on++;
		return;
	}
	here = time_of(site, line);
	beside = time_of(site, line - 1);
	if (!beside)
		beside = time_of(site, line + 1);
	if (beside > here)
		vote_streams(site, site->asked + 1 - beside);
	site->goes_on += beside > here && site->asked - beside < CP_PROFILE_LATELY;
	*place_of(site, line) = (struct asked_line){who_of(site, line), site->asked + 1};
}

static ULong divisor(ULong a, ULong b)
{
	while (b) {
		ULong rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void vote_pair(struct cp_profile_site *site, Addr address, Long distance)
{
	ULong at = address & ((1u << steps.shift) - 1);

	if (distance == site->beside && at == site->beside_at && site->pairs) {
		ULong apart = address > site->paired ? address - site->paired
						     : site->paired - address;

		site->pairs++;
		site->pair_size = divisor(apart, site->pair_size);
		site->paired = address;
	} else if (site->pairs * 2 < site->asked) {
		site->beside = distance;
		site->beside_at = at;
		site->pairs = 1;
		site->pair_size = 0;
		site->paired = address;
	}
}

/* Three lines in a row are no pairs. */
static void note_pairs(struct cp_profile_site *site, Addr address)
{
	struct latest *latest = &steps.latest;
	Long distance = (Long)(latest->address - address);
	ULong line = address >> steps.shift, before = latest->address >> steps.shift;
	Bool beside = latest->site && latest->site->thread == site->thread &&
		      line - before + 1 <= 2,
	     counted = False;

	if (beside && latest->counted)
		latest->site->pairs -= latest->site->pairs > 0;
	if (beside && !latest->beside && line != before && distance < 1l << steps.shift &&
		-distance < 1l << steps.shift) {
		vote_pair(site, address, distance);
		counted = site->paired == address;
	}
	*latest = (struct latest){site, address, beside, counted};
}

/* ---- p = p->next ---- */

#define NODE 256u               /* bytes between a pointer and what is read by it */
#define BESIDE 128u             /* bytes around a line of a node: it may have several */
#define LOOKED_ALWAYS 4096u     /* then one of */
#define LOOKED_BITS 4u          /* 2 to the power of so many, at random */
#define COMPRESSED (1ull << 35) /* end of what Java's pointers of 32 bits reach */

static Bool is_looked_at(const struct cp_profile_site *site)
{
	return site->last &&
	       (site->asked < LOOKED_ALWAYS ||
		       site->asked * 0x9e3779b97f4a7c15ull >> (64 - LOOKED_BITS) == 0);
}

/* As a pointer, or as two of 32 bits: an address, or one of so many 8 bytes. */
static Bool points_to(ULong word, Addr address)
{
	ULong low = (UInt)word, high = word >> 32;

	if (address - word < NODE)
		return True;
	return address < COMPRESSED &&
	       (address - (low << 3) < NODE || address - (high << 3) < NODE ||
		       address - low < NODE || address - high < NODE);
}

/* Has the node, of which that is a part, a pointer to this address?  In a file none has.
 */
static Bool leads_to(Addr part, Addr address)
{
	Addr page = part >> READABLE_PAGE_BITS << READABLE_PAGE_BITS,
	     end = page + (1u << READABLE_PAGE_BITS),
	     line = part >> steps.shift << steps.shift,
	     from = line - page > BESIDE ? line - BESIDE : page,
	     to = end - line > BESIDE + (1u << steps.shift)
			  ? line + (1u << steps.shift) + BESIDE
			  : end;

	if (!is_readable(part, READABLE_WITHOUT_FILE))
		return False;
	while (from < to && !points_to(*(const ULong *)from, address))
		from += sizeof(ULong);
	return from < to;
}

static void note_chain(struct cp_profile_site *site, Addr address)
{
	if (!is_looked_at(site))
		return;
	site->looked++;
	site->chained += leads_to(site->last, address);
}

void profile_steps_note(struct cp_profile_site *site, Addr address)
{
	note_chain(site, address);
	note_streams(site, address >> steps.shift);
	note_pairs(site, address);
}

void profile_steps_fork_child(void)
{
	VG_(memset)(steps.recent, 0, GROUPS * GROUP * sizeof(*steps.recent));
	VG_(memset)(&steps.latest, 0, sizeof(steps.latest));
}

void profile_steps_start(void)
{
	steps.shift = log2_of(tool_options.machine.l1d.line);
	steps.recent =
		VG_(calloc)("cachepeek.steps", GROUPS * GROUP, sizeof(*steps.recent));
}
