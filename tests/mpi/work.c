/* SPDX-License-Identifier: MIT
 * The same for Fortran and Python.
 */
#include "work.h"

void rank_work(int rank);
void rank_work_(const int *rank);
void compute_(const int *rank);
void work_begin_(void);
void work_end_(void);

void rank_work(int rank)
{
	work(rank);
}

void rank_work_(const int *rank)
{
	work(*rank);
}

void compute_(const int *rank)
{
	CACHEPEEK_BEGIN("compute");
	touch(10 * (*rank + 1));
	CACHEPEEK_END("compute");
}

void work_begin_(void)
{
	touch(0);
	CACHEPEEK_BEGIN("work");
}

void work_end_(void)
{
	CACHEPEEK_END("work");
}
