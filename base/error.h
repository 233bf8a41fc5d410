/* SPDX-License-Identifier: MIT
 *
 * The text of an errno, without strerror's locale and memory.
 */
#ifndef CACHEPEEK_BASE_ERROR_H
#define CACHEPEEK_BASE_ERROR_H

/* The text of an errno value that files and processes meet; "error" for others.  Takes
 * either sign.  Static storage, thread-safe. */
const char *cp_error_text(int error);

#endif
