/* SPDX-License-Identifier: MIT
 *
 * Programs of the GAP benchmarks, by their names there, as they are done badly and well:
 * on graphs of few nodes with many edges and many with few.
 */
#include <stdbool.h>
#include <string.h>

#include "clock.h"

static uint32_t nodes, *starts,
	*ends; /* those of node i: from starts[i] to starts[i + 1] */

static uint32_t degree(uint32_t node)
{
	return starts[node + 1] - starts[node];
}

/* Each bit of a node is set in one of four, so that few nodes get most edges (R-MAT);
 * then nodes are numbered by chance. */
static uint32_t some_node(const uint32_t *number)
{
	uint64_t bits = next_number();

	bits &= next_number();
	return number[bits >> 32 & (nodes - 1)];
}

/* By key, of which those that are alike stay in order. */
static void sort_pairs(const uint32_t *key, const uint32_t *other, uint32_t *key_to,
	uint32_t *other_to, size_t n)
{
	memset(starts, 0, sizeof(*starts) * (nodes + 2));
	for (size_t i = 0; i < n; i++)
		starts[key[i] + 1]++;
	for (uint32_t node = 0; node < nodes; node++)
		starts[node + 1] += starts[node];
	for (size_t i = 0; i < n; i++) {
		size_t to = starts[key[i]]++;

		key_to[to] = key[i];
		other_to[to] = other[i];
	}
}

/* Without edges to the node itself and those that are there already. */
static void keep_edges(const uint32_t *from, const uint32_t *to, size_t n)
{
	uint32_t kept = 0;

	memset(starts, 0, sizeof(*starts) * (nodes + 2));
	for (size_t i = 0; i < n; i++) {
		if (from[i] == to[i] ||
			(i > 0 && from[i] == from[i - 1] && to[i] == to[i - 1]))
			continue;
		starts[from[i] + 1]++;
		ends[kept++] = to[i];
	}
	for (uint32_t node = 0; node < nodes; node++)
		starts[node + 1] += starts[node];
}

/* Each edge leads both ways; those of a node are in order. */
static void make_graph(unsigned scale, size_t edges)
{
	uint32_t *room = make_room(sizeof(*room) * 8 * edges), *number;
	uint32_t *from = room, *to = room + 2 * edges, *from2 = room + 4 * edges,
		 *to2 = room + 6 * edges;

	nodes = 1u << scale;
	starts = make_room(sizeof(*starts) * (nodes + 2));
	ends = make_room(sizeof(*ends) * 2 * edges);
	number = make_room(sizeof(*number) * nodes);
	shuffle(number, nodes);
	for (size_t i = 0; i < edges; i++) {
		from[2 * i] = to[2 * i + 1] = some_node(number);
		from[2 * i + 1] = to[2 * i] = some_node(number);
	}
	sort_pairs(to, from, to2, from2, 2 * edges);
	sort_pairs(from2, to2, from, to, 2 * edges);
	keep_edges(from, to, 2 * edges);
}

/* ---- bfs: who is how far away, always from those found last to their neighbours, or,
 * while these are many, from those not found yet to any who is (Beamer) ---- */

enum { NOBODY = UINT32_MAX, BFS_TRIES = 16, EAGER = 15, LAZY = 18 };

static uint32_t *found_by, *queue, tail;
static uint64_t *front, *next_front;

static void make_bfs(void)
{
	make_graph(17, 1000000);
	found_by = make_room(sizeof(*found_by) * nodes);
	queue = make_room(sizeof(*queue) * nodes);
	front = make_room(nodes / 8);
	next_front = make_room(nodes / 8);
}

static uint32_t source_of(uint32_t try)
{
	uint32_t node = try * 9973 % nodes;

	while (degree(node) == 0)
		node = (node + 1) % nodes;
	return node;
}

static void begin_at(uint32_t source)
{
	memset(found_by, 0xff, sizeof(*found_by) * nodes);
	queue[0] = source;
	tail = 1;
	found_by[source] = source;
}

/* To the neighbours of a part of the queue; how many edges those found have. */
static uint64_t step_down(uint32_t head, uint32_t end)
{
	uint64_t edges = 0;

	for (; head < end; head++)
		for (uint32_t e = starts[queue[head]]; e < starts[queue[head] + 1]; e++) {
			if (found_by[ends[e]] != NOBODY)
				continue;
			found_by[ends[e]] = queue[head];
			queue[tail++] = ends[e];
			edges += degree(ends[e]);
		}
	return edges;
}

static uint64_t count_found(void)
{
	uint64_t count = 0;

	for (uint32_t node = 0; node < nodes; node++)
		count += found_by[node] != NOBODY;
	return count;
}

static uint64_t search_from_some(void (*search)(uint32_t))
{
	uint64_t found = 0;

	for (uint32_t try = 0; try < BFS_TRIES; try++) {
		search(source_of(try));
		found += count_found();
	}
	return found;
}

static void search_down(uint32_t source)
{
	uint32_t head = 0, end;

	begin_at(source);
	for (; head < tail; head = end) {
		end = tail;
		step_down(head, end);
	}
}

static uint64_t bfs_down(void)
{
	return search_from_some(search_down);
}

static bool has_bit(const uint64_t *bits, uint32_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}

static void set_bit(uint64_t *bits, uint32_t at)
{
	bits[at / 64] |= (uint64_t)1 << at % 64;
}

/* Each who is not found yet looks for one of those found last; how many found one. */
static uint32_t step_up(void)
{
	uint32_t count = 0;

	memset(next_front, 0, nodes / 8);
	for (uint32_t node = 0; node < nodes; node++) {
		if (found_by[node] != NOBODY)
			continue;
		for (uint32_t e = starts[node]; e < starts[node + 1]; e++)
			if (has_bit(front, ends[e])) {
				found_by[node] = ends[e];
				set_bit(next_front, node);
				count++;
				break;
			}
	}
	return count;
}

/* Until they are few again, who become the new queue. */
static void go_up(uint32_t head)
{
	uint32_t now = tail - head, last;

	memset(front, 0, nodes / 8);
	for (; head < tail; head++)
		set_bit(front, queue[head]);
	do {
		uint64_t *kept = front;

		last = now;
		now = step_up();
		front = next_front;
		next_front = kept;
	} while (now >= last || now > nodes / LAZY);
	tail = 0;
	for (uint32_t node = 0; node < nodes; node++)
		if (has_bit(front, node))
			queue[tail++] = node;
}

static void search_both_ways(uint32_t source)
{
	uint64_t unseen = starts[nodes], edges = degree(source);
	uint32_t head = 0;

	begin_at(source);
	while (head < tail)
		if (edges > unseen / EAGER) {
			go_up(head);
			head = 0;
			edges = 1;
		} else {
			uint32_t end = tail;

			unseen -= edges;
			edges = step_down(head, end);
			head = end;
		}
}

static uint64_t bfs_both_ways(void)
{
	return search_from_some(search_both_ways);
}

/* ---- cc: what hangs together, by names that go along the edges until nobody gets
 * another one, or by a few edges of each and then those of who is not in the largest
 * part (Afforest) ---- */

enum { SAMPLED = 2, ASKED = 1024, CC_TIMES = 10 };

static uint32_t *part, *votes;

static void make_cc(void)
{
	make_graph(17, 1000000);
	part = make_room(sizeof(*part) * nodes);
	votes = make_room(sizeof(*votes) * nodes);
}

static uint64_t find_parts(void (*find)(void))
{
	uint64_t count = 0;

	for (int i = 0; i < CC_TIMES; i++) {
		for (uint32_t node = 0; node < nodes; node++)
			part[node] = node;
		find();
		for (uint32_t node = 0; node < nodes; node++)
			count += part[node] == node;
	}
	return count;
}

static bool pass_names(void)
{
	bool changed = false;

	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t least = part[node];

		for (uint32_t e = starts[node]; e < starts[node + 1]; e++)
			if (part[ends[e]] < least)
				least = part[ends[e]];
		changed |= least != part[node];
		part[node] = least;
	}
	return changed;
}

static void pass_all_names(void)
{
	while (pass_names())
		;
}

static uint64_t cc_names(void)
{
	return find_parts(pass_all_names);
}

static void join(uint32_t one, uint32_t other)
{
	one = part[one];
	other = part[other];
	while (one != other) {
		uint32_t high = one > other ? one : other,
			 low = one > other ? other : one;
		uint32_t above = part[high];

		if (above == low)
			return;
		if (above == high) {
			part[high] = low;
			return;
		}
		one = part[above];
		other = part[low];
	}
}

static void flatten(void)
{
	for (uint32_t node = 0; node < nodes; node++)
		while (part[node] != part[part[node]])
			part[node] = part[part[node]];
}

static uint32_t largest_part(void)
{
	uint32_t best = 0;

	memset(votes, 0, sizeof(*votes) * nodes);
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t asked = part[i * (nodes / ASKED) + i % 7];

		votes[asked]++;
		if (votes[asked] > votes[best])
			best = asked;
	}
	return best;
}

static void afforest(void)
{
	uint32_t largest;

	for (uint32_t k = 0; k < SAMPLED; k++) {
		for (uint32_t node = 0; node < nodes; node++)
			if (k < degree(node))
				join(node, ends[starts[node] + k]);
		flatten();
	}
	largest = largest_part();
	for (uint32_t node = 0; node < nodes; node++) {
		if (part[node] == largest)
			continue;
		for (uint32_t e = starts[node] + SAMPLED; e < starts[node + 1]; e++)
			join(node, ends[e]);
	}
	flatten();
}

static uint64_t cc_afforest(void)
{
	return find_parts(afforest);
}

/* ---- pr: what each node's rank is by the ranks of its neighbours, numbered by chance or
 * those with the most edges first ---- */

enum { PR_TIMES = 13 };

static float *rank, *given;

static void make_pr(void)
{
	make_graph(19, 2200000);
	rank = make_room(sizeof(*rank) * nodes);
	given = make_room(sizeof(*given) * nodes);
}

/* The new number of each node: by degree, and those of the same degree as they were. */
static void number_by_degree(uint32_t *number, uint32_t *old)
{
	uint32_t most = 0, *place;

	for (uint32_t node = 0; node < nodes; node++)
		if (degree(node) > most)
			most = degree(node);
	place = make_room(sizeof(*place) * (most + 2));
	for (uint32_t node = 0; node < nodes; node++)
		place[degree(node)]++;
	for (uint32_t i = most, sum = 0; i <= most; i--) {
		sum += place[i];
		place[i] = sum - place[i];
	}
	for (uint32_t node = 0; node < nodes; node++) {
		number[node] = place[degree(node)]++;
		old[number[node]] = node;
	}
}

static void make_pr_by_degree(void)
{
	uint32_t *number, *old, *new_starts, *new_ends, n = 0;

	make_pr();
	number = make_room(sizeof(*number) * nodes);
	old = make_room(sizeof(*old) * nodes);
	new_starts = make_room(sizeof(*starts) * (nodes + 2));
	new_ends = make_room(sizeof(*ends) * starts[nodes]);
	number_by_degree(number, old);
	for (uint32_t node = 0; node < nodes; node++) {
		for (uint32_t e = starts[old[node]]; e < starts[old[node] + 1]; e++)
			new_ends[n++] = number[ends[e]];
		new_starts[node + 1] = n;
	}
	starts = new_starts;
	ends = new_ends;
}

static void give(void)
{
	for (uint32_t node = 0; node < nodes; node++)
		given[node] = degree(node) ? rank[node] / (float)degree(node) : 0;
}

static uint64_t pr(void)
{
	float base = 0.15f / (float)nodes, most = 0;

	for (uint32_t node = 0; node < nodes; node++)
		rank[node] = 1 / (float)nodes;
	for (int time = 0; time < PR_TIMES; time++) {
		give();
		for (uint32_t node = 0; node < nodes; node++) {
			float sum = 0;

			for (uint32_t e = starts[node]; e < starts[node + 1]; e++)
				sum += given[ends[e]];
			rank[node] = base + 0.85f * sum;
		}
	}
	for (uint32_t node = 0; node < nodes; node++)
		if (rank[node] > most)
			most = rank[node];
	return (uint64_t)(1e6f * most);
}

/* ---- sssp: the shortest ways, in rounds of all that became nearer, or the nearest ones
 * first by buckets (delta stepping) ---- */

enum { HEAVIEST = 255, DELTA = 8, WHEEL = 64, FAR = 1 << 30, SSSP_TRIES = 10 };

static uint32_t *distance, *front_nodes, *next_nodes, *waits_in, *wheel[WHEEL],
	in_bucket[WHEEL];
static unsigned char *weights;

static void make_sssp(void)
{
	make_graph(16, 600000);
	distance = make_room(sizeof(*distance) * nodes);
	front_nodes = make_room(sizeof(*front_nodes) * nodes);
	next_nodes = make_room(sizeof(*next_nodes) * nodes);
	waits_in = make_room(sizeof(*waits_in) * nodes);
	for (int i = 0; i < WHEEL; i++)
		wheel[i] = make_room(sizeof(**wheel) * nodes);
	weights = make_room(starts[nodes]);
	for (uint32_t node = 0; node < nodes; node++)
		for (uint32_t e = starts[node]; e < starts[node + 1]; e++)
			weights[e] =
				(unsigned char)(((node ^ ends[e]) * 2654435761u >> 16) %
							HEAVIEST +
						1);
}

static void begin_far(void)
{
	for (uint32_t node = 0; node < nodes; node++)
		distance[node] = FAR;
	memset(waits_in, 0xff, sizeof(*waits_in) * nodes);
}

static uint64_t sum_of_ways(void)
{
	uint64_t sum = 0;

	for (uint32_t node = 0; node < nodes; node++)
		sum += distance[node] < FAR ? distance[node] : 0;
	return sum;
}

/* A node that becomes nearer is in the next round, once. */
static uint32_t go_round(uint32_t n, uint32_t round)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = starts[front_nodes[i]]; e < starts[front_nodes[i] + 1];
			e++) {
			uint32_t far = distance[front_nodes[i]] + weights[e];

			if (far >= distance[ends[e]])
				continue;
			distance[ends[e]] = far;
			if (waits_in[ends[e]] != round)
				next_nodes[next++] = ends[e];
			waits_in[ends[e]] = round;
		}
	return next;
}

static uint64_t sssp_rounds(void)
{
	uint64_t sum = 0;

	for (uint32_t try = 0; try < SSSP_TRIES; try++) {
		uint32_t n = 1, *kept;

		begin_far();
		front_nodes[0] = source_of(try);
		distance[front_nodes[0]] = 0;
		for (uint32_t round = 0; n > 0; round++) {
			n = go_round(n, round);
			kept = front_nodes;
			front_nodes = next_nodes;
			next_nodes = kept;
		}
		sum += sum_of_ways();
	}
	return sum;
}

/* Each node waits at most once in each bucket; the wheel has more of them than a way can
 * be longer than the shortest one. */
static bool put_in_bucket(uint32_t node, uint32_t far)
{
	uint32_t bucket = far / DELTA;

	distance[node] = far;
	if (waits_in[node] == bucket)
		return false;
	waits_in[node] = bucket;
	wheel[bucket % WHEEL][in_bucket[bucket % WHEEL]++] = node;
	return true;
}

/* How many more wait then, in all buckets. */
static long leave_node(uint32_t node)
{
	long more = 0;

	for (uint32_t e = starts[node]; e < starts[node + 1]; e++) {
		uint32_t far = distance[node] + weights[e];

		if (far < distance[ends[e]])
			more += put_in_bucket(ends[e], far);
	}
	return more;
}

static uint64_t sssp_buckets(void)
{
	uint64_t sum = 0;

	for (uint32_t try = 0; try < SSSP_TRIES; try++) {
		long waiting;

		begin_far();
		waiting = put_in_bucket(source_of(try), 0);
		for (uint32_t bucket = 0; waiting > 0; bucket++)
			while (in_bucket[bucket % WHEEL] > 0) {
				uint32_t node = wheel[bucket % WHEEL]
						     [--in_bucket[bucket % WHEEL]];

				waiting--;
				if (distance[node] / DELTA != bucket)
					continue;
				waits_in[node] = NOBODY;
				waiting += leave_node(node);
			}
		sum += sum_of_ways();
	}
	return sum;
}

const struct kernel gapbs_kernels[] = {
	{"bfs-down", make_bfs, bfs_down},
	{"bfs-both-ways", make_bfs, bfs_both_ways},
	{"cc-names", make_cc, cc_names},
	{"cc-afforest", make_cc, cc_afforest},
	{"pr-by-chance", make_pr, pr},
	{"pr-by-degree", make_pr_by_degree, pr},
	{"sssp-rounds", make_sssp, sssp_rounds},
	{"sssp-buckets", make_sssp, sssp_buckets},
	{NULL, NULL, NULL},
};
