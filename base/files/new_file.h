/* SPDX-License-Identifier: MIT
 *
 * The files that users name for reports.  Every command and the library write
 * them in this way:
 *
 * - The file is made new beside its place and then renamed, so that a reader
 *   never sees a part of it, and whoever has the old file open does not get what
 *   the new one says.
 * - Its mode is 0644 less the umask; where a file of the same user is replaced, it is
 *   that file's.
 * - A link is followed if it belongs to the user or to root, or if nobody else
 *   may write to its directory.
 * - What is no regular file (a terminal, /dev/null, a FIFO, /dev/stdout) is
 *   written to as it is; FIFOs and sockets under the same condition as links.
 */
#ifndef CACHEPEEK_BASE_FILES_NEW_FILE_H
#define CACHEPEEK_BASE_FILES_NEW_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#define CP_NEW_FILE_PATH 4096

struct cp_new_file {
	int fd;
	char path[CP_NEW_FILE_PATH];  /* behind links */
	char fresh[CP_NEW_FILE_PATH]; /* to be renamed; "": written in place */
};

/* Opens a file to be written; wait: for whoever will read from a FIFO.  Returns
 * NULL, or why it cannot be written (then nothing is open). */
const char *cp_new_file_open(struct cp_new_file *file, const char *path, bool wait);

/* Closes it and puts it in its place, or, after an error, removes it.  Returns
 * that error or the first one of its own: 0 or -errno. */
int cp_new_file_finish(struct cp_new_file *file, int error);

#endif
