/* SPDX-License-Identifier: MIT
 *
 * The first of the kernels of PolyBench that are not here already, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static double *room_of_doubles(size_t n)
{
	return make_room(sizeof(double) * n);
}

static double *random_doubles(size_t n)
{
	double *made = room_of_doubles(n);

	for (size_t i = 0; i < n; i++)
		made[i] = (double)(next_number() % 1000) / 1000;
	return made;
}

/* ---- 2mm: a matrix by two others ---- */

enum { NI = 350, NJ = 360, NK = 370, NL = 380 };

static double *first, *second, *third, *between, *result;

static void make_2mm(void)
{
	first = random_doubles((size_t)NI * NK);
	second = random_doubles((size_t)NK * NJ);
	third = random_doubles((size_t)NJ * NL);
	between = room_of_doubles((size_t)NI * NJ);
	result = random_doubles((size_t)NI * NL);
}

static uint64_t two_products(void)
{
	const double alpha = 1.5, beta = 0.01;

	for (size_t i = 0; i < NI; i++)
		for (size_t j = 0; j < NJ; j++) {
			double sum = 0;

			for (size_t k = 0; k < NK; k++)
				sum += alpha * first[i * NK + k] * second[k * NJ + j];
			between[i * NJ + j] = sum;
		}
	for (size_t i = 0; i < NI; i++)
		for (size_t j = 0; j < NL; j++) {
			double sum = beta * result[i * NL + j];

			for (size_t k = 0; k < NJ; k++)
				sum += between[i * NJ + k] * third[k * NL + j];
			result[i * NL + j] = sum;
		}
	return (uint64_t)result[7];
}

/* ---- atax: a vector by a matrix, and that by the same one transposed, some times ----
 */

enum { ROWS = 1900, COLUMNS = 2100, TIMES = 11 };

static double *matrix, *vector, *by_matrix, *back;

static void make_atax(void)
{
	matrix = random_doubles((size_t)ROWS * COLUMNS);
	vector = room_of_doubles(COLUMNS);
	by_matrix = room_of_doubles(ROWS);
	back = room_of_doubles(COLUMNS);
}

static double row_by_vector(size_t i)
{
	double sum = 0;

	for (size_t j = 0; j < COLUMNS; j++)
		sum += matrix[i * COLUMNS + j] * vector[j];
	return sum;
}

static void back_by_rows(void)
{
	memset(back, 0, sizeof(double) * COLUMNS);
	for (size_t i = 0; i < ROWS; i++) {
		by_matrix[i] = row_by_vector(i);
		for (size_t j = 0; j < COLUMNS; j++)
			back[j] += matrix[i * COLUMNS + j] * by_matrix[i];
	}
}

static void back_by_columns(void)
{
	for (size_t i = 0; i < ROWS; i++)
		by_matrix[i] = row_by_vector(i);
	for (size_t j = 0; j < COLUMNS; j++) {
		double sum = 0;

		for (size_t i = 0; i < ROWS; i++)
			sum += matrix[i * COLUMNS + j] * by_matrix[i];
		back[j] = sum;
	}
}

/* Each time by what the time before found, of length 1. */
static uint64_t atax(void (*multiply)(void))
{
	double length = 0;

	for (size_t j = 0; j < COLUMNS; j++)
		vector[j] = 1 / sqrt(COLUMNS);
	for (int time = 0; time < TIMES; time++) {
		multiply();
		length = 0;
		for (size_t j = 0; j < COLUMNS; j++)
			length += back[j] * back[j];
		length = sqrt(length);
		for (size_t j = 0; j < COLUMNS; j++)
			vector[j] = back[j] / length;
	}
	return (uint64_t)length;
}

static uint64_t atax_rows(void)
{
	return atax(back_by_rows);
}

static uint64_t atax_columns(void)
{
	return atax(back_by_columns);
}

/* ---- correlation: each column of a table with each other one ---- */

enum { VARIABLES = 600, SEEN = 650 };

static double *table, *centred, *correlations;

static void make_correlation(void)
{
	table = random_doubles((size_t)SEEN * VARIABLES);
	centred = room_of_doubles((size_t)SEEN * VARIABLES);
	correlations = room_of_doubles((size_t)VARIABLES * VARIABLES);
}

/* Each column gets the mean 0 and the length 1. */
static void centre(void)
{
	static double mean[VARIABLES], deviation[VARIABLES];

	for (size_t j = 0; j < VARIABLES; j++) {
		mean[j] = deviation[j] = 0;
		for (size_t i = 0; i < SEEN; i++)
			mean[j] += table[i * VARIABLES + j];
		mean[j] /= SEEN;
		for (size_t i = 0; i < SEEN; i++) {
			double off = table[i * VARIABLES + j] - mean[j];

			deviation[j] += off * off;
		}
		deviation[j] = sqrt(deviation[j] / SEEN);
		if (deviation[j] <= 0.1)
			deviation[j] = 1;
	}
	for (size_t i = 0; i < SEEN; i++)
		for (size_t j = 0; j < VARIABLES; j++)
			centred[i * VARIABLES + j] =
				(table[i * VARIABLES + j] - mean[j]) /
				(sqrt(SEEN) * deviation[j]);
}

static uint64_t correlation_columns(void)
{
	centre();
	for (size_t i = 0; i < VARIABLES; i++) {
		correlations[i * VARIABLES + i] = 1;
		for (size_t j = i + 1; j < VARIABLES; j++) {
			double sum = 0;

			for (size_t k = 0; k < SEEN; k++)
				sum += centred[k * VARIABLES + i] *
				       centred[k * VARIABLES + j];
			correlations[i * VARIABLES + j] =
				correlations[j * VARIABLES + i] = sum;
		}
	}
	return (uint64_t)fabs(1e6 * correlations[7]);
}

static uint64_t correlation_rows(void)
{
	centre();
	for (size_t i = 0; i < VARIABLES; i++) {
		double *to = correlations + i * VARIABLES;

		memset(to + i, 0, sizeof(double) * (VARIABLES - i));
		for (size_t k = 0; k < SEEN; k++)
			for (size_t j = i + 1; j < VARIABLES; j++)
				to[j] += centred[k * VARIABLES + i] *
					 centred[k * VARIABLES + j];
		to[i] = 1;
		for (size_t j = i + 1; j < VARIABLES; j++)
			correlations[j * VARIABLES + i] = to[j];
	}
	return (uint64_t)fabs(1e6 * correlations[7]);
}

/* ---- deriche: an image is smoothed along its rows and its columns ---- */

enum { HEIGHT = 1080, WIDTH = 1920 };

static float *image, *smooth, *forwards, *backwards;

static void make_deriche(void)
{
	image = make_room(sizeof(float) * HEIGHT * WIDTH);
	smooth = make_room(sizeof(float) * HEIGHT * WIDTH);
	forwards = make_room(sizeof(float) * HEIGHT * WIDTH);
	backwards = make_room(sizeof(float) * HEIGHT * WIDTH);
	for (size_t i = 0; i < (size_t)HEIGHT * WIDTH; i++)
		image[i] = (float)(next_number() % 1000) / 1000;
}

struct smoother {
	float a1, a2, a3, a4, b1, b2;
};

/* The sum of both recursions leaves an image of one colour as it is. */
static struct smoother smoother(float alpha)
{
	float less = expf(-alpha);
	float k = (1 - less) * (1 - less) / (1 + 2 * alpha * less - less * less);

	return (struct smoother){k, k * less * (alpha - 1), k * less * (alpha + 1),
		-k * less * less, 2 * less, -less * less};
}

/* Points of a line are a step apart. */
static void along_line(const float *from, size_t first_point, size_t step, size_t points,
	struct smoother s)
{
	float x1 = 0, x2 = 0, y1 = 0, y2 = 0;

	for (size_t k = 0, at = first_point; k < points; k++, at += step) {
		float y = s.a1 * from[at] + s.a2 * x1 + s.b1 * y1 + s.b2 * y2;

		forwards[at] = y;
		x1 = from[at];
		y2 = y1;
		y1 = y;
	}
	x1 = x2 = y1 = y2 = 0;
	for (size_t k = points, at = first_point + points * step; k-- > 0;) {
		float y = s.a3 * x1 + s.a4 * x2 + s.b1 * y1 + s.b2 * y2;

		at -= step;
		backwards[at] = y;
		x2 = x1;
		x1 = from[at];
		y2 = y1;
		y1 = y;
	}
}

static void add_both(void)
{
	for (size_t i = 0; i < (size_t)HEIGHT * WIDTH; i++)
		smooth[i] = forwards[i] + backwards[i];
}

static uint64_t deriche(void)
{
	struct smoother s = smoother(0.25f);

	for (size_t y = 0; y < HEIGHT; y++)
		along_line(image, y * WIDTH, 1, WIDTH, s);
	add_both();
	for (size_t x = 0; x < WIDTH; x++)
		along_line(smooth, x, WIDTH, HEIGHT, s);
	add_both();
	return (uint64_t)(1000 * smooth[(size_t)HEIGHT / 2 * WIDTH + 7]);
}

/* ---- fdtd-2d: an electric and a magnetic field in a plane ---- */

enum { FIELD_ROWS = 500, FIELD_COLUMNS = 600, STEPS = 100 };

static double *electric_x, *electric_y, *magnetic;

static void make_fdtd(void)
{
	electric_x = random_doubles((size_t)FIELD_ROWS * FIELD_COLUMNS);
	electric_y = random_doubles((size_t)FIELD_ROWS * FIELD_COLUMNS);
	magnetic = random_doubles((size_t)FIELD_ROWS * FIELD_COLUMNS);
}

static void step_electric(int time)
{
	const size_t row = FIELD_COLUMNS;

	for (size_t j = 0; j < FIELD_COLUMNS; j++)
		electric_y[j] = time;
	for (size_t i = 1; i < FIELD_ROWS; i++)
		for (size_t j = 0; j < FIELD_COLUMNS; j++)
			electric_y[i * row + j] -=
				0.5 *
				(magnetic[i * row + j] - magnetic[(i - 1) * row + j]);
	for (size_t i = 0; i < FIELD_ROWS; i++)
		for (size_t j = 1; j < FIELD_COLUMNS; j++)
			electric_x[i * row + j] -=
				0.5 * (magnetic[i * row + j] - magnetic[i * row + j - 1]);
}

static void step_magnetic(void)
{
	for (size_t i = 0; i < FIELD_ROWS - 1; i++)
		for (size_t j = 0; j < FIELD_COLUMNS - 1; j++) {
			size_t at = i * FIELD_COLUMNS + j;

			magnetic[at] -= 0.7 * (electric_x[at + 1] - electric_x[at] +
						      electric_y[at + FIELD_COLUMNS] -
						      electric_y[at]);
		}
}

static uint64_t fdtd(void)
{
	for (int time = 0; time < STEPS; time++) {
		step_electric(time);
		step_magnetic();
	}
	return (uint64_t)fabs(1000 * magnetic[7 * FIELD_COLUMNS + 7]);
}

const struct kernel polybench_kernels[] = {
	{"2mm", make_2mm, two_products},
	{"atax-columns", make_atax, atax_columns},
	{"atax-rows", make_atax, atax_rows},
	{"correlation-columns", make_correlation, correlation_columns},
	{"correlation-rows", make_correlation, correlation_rows},
	{"deriche", make_deriche, deriche},
	{"fdtd-2d", make_fdtd, fdtd},
	{NULL, NULL, NULL},
};
