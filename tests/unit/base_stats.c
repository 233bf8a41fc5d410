/* SPDX-License-Identifier: MIT
 *
 * Student's t, as printed tables have it.
 */
#include "base/stats.h"
#include "tests/tap/tap.h"

int main(void)
{
	static const struct {
		double freedom, t;
	} rows[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {5, 2.571},
		{6, 2.447}, {7, 2.365}, {10, 2.228}, {14, 2.145}, {30, 2.042},
		{120, 1.980}, {1e9, 1.960}};

	plan(13);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_double_near(cp_student(rows[i].freedom), rows[i].t, 0.003 * rows[i].t,
			"%g degrees of freedom", rows[i].freedom);
	is_double_near(cp_student(0.5), 12.706, 0.001, "less than one is one");
	return 0;
}
