/* SPDX-License-Identifier: MIT
 *
 * The report at the end of the root process, made from the run directory as
 * `cachepeek report` would make it.
 */
#ifndef CACHEPEEK_PRELOAD_REPORT_H
#define CACHEPEEK_PRELOAD_REPORT_H

/* When the run directory is known to be there. */
void cp_report_start(void);

/* Writes the report of the run, or of the rank, to what CACHEPEEK_OUTPUT names. */
void cp_report_at_exit(void);

/* In rank 0: the same for all ranks, whose records are in the file that
 * cp_order_parcels() names. */
void cp_report_gathered(int ranks);

/* The program is about to forbid itself to open files, or to execute any: what writes
 * the report is made while it can be. */
void cp_report_before_confined(void);

#endif
