/* SPDX-License-Identifier: MIT
 *
 * Opening files that somebody else may have made: records, samples, profiles, maps
 * of JIT compilers, machine and group files, JSON reports, programs and their
 * debugging information.  tests/hook/trusted.t knows who opens files otherwise.
 *
 * Every such file has to be a regular file (nothing waits for a FIFO, nothing reads
 * /dev/zero) and not larger than the reader allows.  One that the user named, or that
 * the program itself runs, may be a link and belong to anybody.  One that was found,
 * by its name in a directory that others may write to, may not:
 *
 * - It is no link.
 * - It belongs to the user, to root, or to the owner of a directory to which only
 *   that owner can write.
 * - Others cannot write to it, unless they cannot reach it through its directory.  A
 *   group whose number is that of the owner is the owner's own.
 */
#ifndef CACHEPEEK_BASE_FILES_TRUSTED_H
#define CACHEPEEK_BASE_FILES_TRUSTED_H

#include <stddef.h>
#include <stdint.h>

enum cp_trust { CP_NAMED, CP_FOUND };

/* For most files; lines of text in a few MiB are much. */
#define CP_TRUSTED_MOST ((uint64_t)256 << 20)

/* For programs with their debugging information. */
#define CP_TRUSTED_PROGRAM ((uint64_t)64 << 30)

/* Opens name in directory (AT_FDCWD or a descriptor) to be read.  Returns the
 * descriptor, or -errno with the reason and the cure in why. */
int cp_trusted_open(int directory, const char *name, enum cp_trust trust, uint64_t most,
	char *why, size_t size);

/* The same check, of CP_FOUND, for what is open already: name in directory, of any size.
 */
int cp_trusted_check_found(
	int fd, int directory, const char *name, char *why, size_t size);

/* Reads all of a small file, NUL-terminated.  0, or -errno with the reason and the cure
 * in why. */
int cp_trusted_load(const char *path, enum cp_trust trust, char *to, size_t room,
	char *why, size_t size);

#endif
