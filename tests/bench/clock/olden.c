/* SPDX-License-Identifier: MIT
 *
 * The first four programs of the Olden benchmarks, which go along pointers, by their
 * names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static double next_double(void)
{
	return (double)(next_number() >> 11) * 0x1p-53;
}

/* ---- bh: bodies that attract each other, those far away as one (Barnes and Hut) ---- */

enum { BODIES = 25000, MOST_CELLS = 2 * BODIES };

static struct body {
	double mass, at[3], pull[3];
	double potential;
} * bodies;

/* Each part of eight has nothing (0), a cell, or a body (its number + 1, negated). */
static struct cell {
	double mass, at[3];
	int32_t part[8];
} * cells;

static int32_t used_cells;
static uint64_t pulls;

/* Near the middle there are more (Plummer). */
static void place_body(struct body *body)
{
	double way[3], square, far;

	do
		far = 1 / sqrt(pow(next_double() + 1e-9, -2.0 / 3) - 1);
	while (far > 4);
	do {
		square = 0;
		for (int k = 0; k < 3; k++) {
			way[k] = 2 * next_double() - 1;
			square += way[k] * way[k];
		}
	} while (square > 1 || square < 1e-4);
	for (int k = 0; k < 3; k++)
		body->at[k] = 0.5 + 0.12 * far * way[k] / sqrt(square);
	body->mass = 1.0 / BODIES;
}

static void make_bodies(void)
{
	bodies = make_room(sizeof(*bodies) * BODIES);
	cells = make_room(sizeof(*cells) * MOST_CELLS);
	for (size_t i = 0; i < BODIES; i++)
		place_body(&bodies[i]);
}

static int part_of(const struct body *body, const double *middle)
{
	return (body->at[0] >= middle[0]) | (body->at[1] >= middle[1]) << 1 |
	       (body->at[2] >= middle[2]) << 2;
}

static int32_t new_cell(void)
{
	memset(&cells[used_cells], 0, sizeof(*cells));
	return used_cells++;
}

static void insert_body(int32_t number)
{
	double middle[3] = {0.5, 0.5, 0.5}, half = 0.5;
	int32_t cell = 0;

	for (;;) {
		int part = part_of(&bodies[number], middle);
		int32_t *there = &cells[cell].part[part];

		half /= 2;
		for (int k = 0; k < 3; k++)
			middle[k] += part >> k & 1 ? half : -half;
		if (*there == 0) {
			*there = -number - 1;
			return;
		}
		if (*there < 0) {
			int32_t other = *there;

			*there = new_cell();
			cells[*there].part[part_of(&bodies[-other - 1], middle)] = other;
		}
		cell = *there;
	}
}

static void sum_cell(struct cell *cell)
{
	for (int part = 0; part < 8; part++) {
		int32_t there = cell->part[part];
		double mass;
		const double *at;

		if (there == 0)
			continue;
		if (there > 0)
			sum_cell(&cells[there]);
		mass = there > 0 ? cells[there].mass : bodies[-there - 1].mass;
		at = there > 0 ? cells[there].at : bodies[-there - 1].at;
		cell->mass += mass;
		for (int k = 0; k < 3; k++)
			cell->at[k] += mass * at[k];
	}
	for (int k = 0; k < 3; k++)
		cell->at[k] /= cell->mass;
}

static double square_between(const double *one, const double *other)
{
	double square = 0;

	for (int k = 0; k < 3; k++)
		square += (one[k] - other[k]) * (one[k] - other[k]);
	return square;
}

static void pull_body(struct body *body, const double *at, double mass, double square)
{
	double near = square + 1e-5, strength = mass / (near * sqrt(near));

	for (int k = 0; k < 3; k++)
		body->pull[k] += strength * (at[k] - body->at[k]);
	body->potential -= mass / sqrt(near);
	pulls++;
}

static void pull_by_cell(struct body *body, const struct cell *cell, double side)
{
	for (int part = 0; part < 8; part++) {
		int32_t there = cell->part[part];

		if (there < 0) {
			const struct body *other = &bodies[-there - 1];

			if (other != body)
				pull_body(body, other->at, other->mass,
					square_between(body->at, other->at));
		} else if (there > 0) {
			const struct cell *inner = &cells[there];
			double square = square_between(body->at, inner->at);

			if (side * side / 4 < square)
				pull_body(body, inner->at, inner->mass, square);
			else
				pull_by_cell(body, inner, side / 2);
		}
	}
}

static uint64_t attract(void)
{
	pulls = 0;
	used_cells = 0;
	new_cell();
	for (int32_t i = 0; i < BODIES; i++)
		insert_body(i);
	sum_cell(&cells[0]);
	for (size_t i = 0; i < BODIES; i++) {
		memset(bodies[i].pull, 0, sizeof(bodies[i].pull));
		bodies[i].potential = 0;
		pull_by_cell(&bodies[i], &cells[0], 1);
	}
	return pulls;
}

/* ---- bisort: numbers in a tree are sorted in both directions, by swaps of subtrees
 * (Bilardi and Nicolau) ---- */

enum { TREE_NODES = (1 << 18) - 1 };

static struct node {
	struct node *left, *right;
	uint32_t number;
} * nodes;

static uint32_t *numbers;

static void make_numbers(void)
{
	nodes = make_room(sizeof(*nodes) * TREE_NODES);
	numbers = make_room(sizeof(*numbers) * (TREE_NODES + 1));
	for (size_t i = 0; i <= TREE_NODES; i++)
		numbers[i] = (uint32_t)next_number();
}

/* Each node stands before what is below it. */
static struct node *make_tree(size_t at, size_t n)
{
	struct node *node = &nodes[at];

	if (n == 0)
		return NULL;
	node->number = numbers[at];
	node->left = make_tree(at + 1, n / 2);
	node->right = make_tree(at + 1 + n / 2, n / 2);
	return node;
}

static void swap_nodes(struct node **one, struct node **other)
{
	struct node *kept = *one;

	*one = *other;
	*other = kept;
}

static void swap_numbers(uint32_t *one, uint32_t *other)
{
	uint32_t kept = *one;

	*one = *other;
	*other = kept;
}

/* Down both halves at once, until what is to be on the other side is there. */
static void exchange(struct node *left, struct node *right, int by_right, int down)
{
	while (left) {
		int swapped = (left->number > right->number) != down;

		if (swapped) {
			swap_numbers(&left->number, &right->number);
			if (by_right)
				swap_nodes(&left->right, &right->right);
			else
				swap_nodes(&left->left, &right->left);
		}
		if (swapped == by_right) {
			left = left->left;
			right = right->left;
		} else {
			left = left->right;
			right = right->right;
		}
	}
}

/* A sequence that rises and falls becomes one that does one of them; its last number is
 * not in the tree. */
static uint32_t merge_tree(struct node *root, uint32_t last, int down)
{
	int by_right = (root->number > last) != down;

	if (by_right)
		swap_numbers(&root->number, &last);
	exchange(root->left, root->right, by_right, down);
	if (root->left) {
		root->number = merge_tree(root->left, root->number, down);
		last = merge_tree(root->right, last, down);
	}
	return last;
}

static uint32_t sort_tree(struct node *root, uint32_t last, int down)
{
	if (!root->left) {
		if ((root->number > last) != down)
			swap_numbers(&root->number, &last);
		return last;
	}
	root->number = sort_tree(root->left, root->number, down);
	last = sort_tree(root->right, last, !down);
	return merge_tree(root, last, down);
}

static uint64_t sort_both_ways(void)
{
	struct node *root = make_tree(0, TREE_NODES);
	uint32_t last = sort_tree(root, numbers[TREE_NODES], 0);

	return sort_tree(root, last, 1);
}

/* ---- em3d: an electric and a magnetic field at nodes that point to each other ---- */

enum { FIELD_NODES = 100000, LINKS = 10, TIMES = 16 };

struct field_node {
	double value;
	struct field_node *next;
	double **from, *share;
};

static struct field_node *electric, *magnetic;

static struct field_node *make_field(void)
{
	struct field_node *made = make_room(sizeof(*made) * FIELD_NODES);
	double **from = make_room(sizeof(*from) * FIELD_NODES * LINKS);
	double *share = make_room(sizeof(*share) * FIELD_NODES * LINKS);

	for (size_t i = 0; i < FIELD_NODES; i++) {
		made[i].value = next_double();
		made[i].next = i + 1 < FIELD_NODES ? &made[i + 1] : NULL;
		made[i].from = from + i * LINKS;
		made[i].share = share + i * LINKS;
	}
	return made;
}

static void link_field(struct field_node *to, struct field_node *from)
{
	for (struct field_node *node = to; node; node = node->next)
		for (int k = 0; k < LINKS; k++) {
			node->from[k] = &from[next_number() % FIELD_NODES].value;
			node->share[k] = next_double() / LINKS;
		}
}

static void make_fields(void)
{
	electric = make_field();
	magnetic = make_field();
	link_field(electric, magnetic);
	link_field(magnetic, electric);
}

static void step_field(struct field_node *field)
{
	for (struct field_node *node = field; node; node = node->next)
		for (int k = 0; k < LINKS; k++)
			node->value -= *node->from[k] * node->share[k];
}

static uint64_t fields(void)
{
	for (int time = 0; time < TIMES; time++) {
		step_field(electric);
		step_field(magnetic);
	}
	return (uint64_t)fabs(1e6 * electric[7].value);
}

/* ---- health: patients wait in villages, and some go on to the village above ---- */

enum { VILLAGES = 1365, BELOW = 4, DAYS = 270, MOST_PATIENTS = VILLAGES * DAYS };

static struct patient {
	struct patient *next;
	uint32_t days, left;
} * patients, *recovered;

struct list {
	struct patient *first, **end;
};

static struct village {
	struct village *below[BELOW];
	struct list waiting, looked_at, inside;
	uint32_t staff;
	uint64_t chance;
} * villages;

static uint64_t days_spent;
static size_t used_patients;

static void make_health(void)
{
	patients = make_room(sizeof(*patients) * MOST_PATIENTS);
	villages = make_room(sizeof(*villages) * VILLAGES);
}

static void append(struct list *list, struct patient *patient)
{
	patient->next = NULL;
	*list->end = patient;
	list->end = &patient->next;
}

static struct patient *take(struct list *list, struct patient **at)
{
	struct patient *taken = *at;

	*at = taken->next;
	if (!*at)
		list->end = at;
	return taken;
}

static unsigned village_chance(struct village *village, unsigned of)
{
	village->chance = village->chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(village->chance >> 33) % of;
}

/* A village has four below it, and twice the staff of each of them. */
static struct village *build_village(size_t number)
{
	struct village *village = &villages[number];

	memset(village, 0, sizeof(*village));
	village->waiting.end = &village->waiting.first;
	village->looked_at.end = &village->looked_at.first;
	village->inside.end = &village->inside.first;
	village->chance = number * 977 + 1;
	village->staff = 1;
	for (size_t k = 0; k < BELOW && BELOW * number + 1 < VILLAGES; k++) {
		village->below[k] = build_village(BELOW * number + 1 + k);
		village->staff = 2 * village->below[k]->staff;
	}
	return village;
}

/* A patient who is well makes room for another one. */
static void discharge(struct village *village, struct patient *patient)
{
	days_spent += patient->days;
	village->staff++;
	patient->next = recovered;
	recovered = patient;
}

static void treat(struct village *village)
{
	struct patient **at = &village->inside.first;

	while (*at) {
		(*at)->days++;
		if (--(*at)->left > 0)
			at = &(*at)->next;
		else
			discharge(village, take(&village->inside, at));
	}
}

/* One in ten has to go on to the village above, where there is one. */
static void look_at(struct village *village, struct list *above)
{
	struct patient **at = &village->looked_at.first;

	while (*at) {
		struct patient *patient;

		(*at)->days++;
		if (--(*at)->left > 0) {
			at = &(*at)->next;
			continue;
		}
		patient = take(&village->looked_at, at);
		if (above && village_chance(village, 10) == 0) {
			village->staff++;
			append(above, patient);
		} else {
			patient->left = 10;
			append(&village->inside, patient);
		}
	}
}

static void call_in(struct village *village)
{
	struct patient **at = &village->waiting.first;

	while (*at) {
		(*at)->days++;
		if (village->staff == 0) {
			at = &(*at)->next;
			continue;
		}
		village->staff--;
		(*at)->left = 3;
		append(&village->looked_at, take(&village->waiting, at));
	}
}

static struct patient *new_patient(void)
{
	struct patient *patient = recovered;

	if (patient)
		recovered = patient->next;
	else
		patient = &patients[used_patients++];
	patient->days = 0;
	return patient;
}

static void live_a_day(struct village *village, struct list *above)
{
	for (int k = 0; k < BELOW && village->below[k]; k++)
		live_a_day(village->below[k], &village->waiting);
	treat(village);
	look_at(village, above);
	call_in(village);
	if (village_chance(village, 3) == 0)
		append(&village->waiting, new_patient());
}

static uint64_t health(void)
{
	struct village *top = build_village(0);

	recovered = NULL;
	used_patients = 0;
	days_spent = 0;
	for (int day = 0; day < DAYS; day++)
		live_a_day(top, NULL);
	return days_spent;
}

const struct kernel olden_kernels[] = {
	{"bh", make_bodies, attract},
	{"bisort", make_numbers, sort_both_ways},
	{"em3d", make_fields, fields},
	{"health", make_health, health},
	{NULL, NULL, NULL},
};
