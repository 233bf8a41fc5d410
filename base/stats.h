/* SPDX-License-Identifier: MIT
 *
 * The statistics of error bars.  Without libm: it is in the library, too.
 */
#ifndef CACHEPEEK_BASE_STATS_H
#define CACHEPEEK_BASE_STATS_H

/* Half of a 95 % interval, in standard errors: the 97.5 % quantile of Student's t
 * distribution with so many degrees of freedom, 1 or more; within 0.3 %. */
double cp_student(double freedom);

/* An event that was never seen occurs at most so many times its weight, in 95 % of cases
 * (the rule of three). */
#define CP_UNSEEN 3.0

#endif
