/* SPDX-License-Identifier: MIT
 * The same for Fortran and Python.
 */
#include "work.h"

void rank_work(int rank);
void rank_work_(const int *rank);

void rank_work(int rank)
{
	work(rank);
}

void rank_work_(const int *rank)
{
	work(*rank);
}
