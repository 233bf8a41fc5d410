/* SPDX-License-Identifier: MIT
 *
 * Commands and options of perf, LIKWID and valgrind that have other names here.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_PEERS_H
#define CACHEPEEK_TOOLS_SHARED_PEERS_H

/* The answer to use in place of `word` ("record", "-p"), as the end of a sentence; NULL:
 * it is not one of them. */
const char *cp_peer_answer(const char *word);

#endif
