/* SPDX-License-Identifier: MIT
 *
 * Starts the program that writes the report, which lies beside the library
 * (tools/reporter/), and waits for it.  The program does not see it: no wait of its own
 * finds it, no SIGCHLD tells of it, and of the program's descriptors it has stderr, and
 * those that are outputs.
 */
#ifndef CACHEPEEK_PRELOAD_WRITER_H
#define CACHEPEEK_PRELOAD_WRITER_H

#include <stdbool.h>

#include "regions/order.h"

/* Does one of the outputs stand for this descriptor of the program's: "-", /dev/fd/N? */
bool cp_writer_takes(const char *outputs, int fd);

/* Ends a child of ours.  Valgrind, where it is the user's own, has libc write what the
 * program has not written yet when a process exits: there a signal ends the child. */
_Noreturn void cp_writer_leave(int status);

/* When counting begins: the program may change its directories later. */
void cp_writer_find(void);

/* An enum cp_order_end; or -errno: it could not be started, -ECHILD: it was killed. */
int cp_writer_run(const struct cp_order *order);

#endif
