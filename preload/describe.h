/* SPDX-License-Identifier: MIT
 *
 * The record of this process: made, with what the report needs to know of it.
 */
#ifndef CACHEPEEK_PRELOAD_DESCRIBE_H
#define CACHEPEEK_PRELOAD_DESCRIBE_H

/* In a fork child, while the parent's record is still there. */
void cp_start_child(void);

/* A record of this process, with what was asked for; said if there is none. */
int cp_start_record(void);

#endif
