/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machines of several sockets: which of them has a page in its memory, and how far it
 * is from there.
 *
 * A page is placed when one of its lines is first asked for: in the memory of the
 * socket whose core does.  There it stays until it is unmapped.  This is the simulated
 * machine's policy, whatever the host does; a page is as large as the machine says, huge
 * or not.
 *
 * The sockets are next to each other, or stand in a ring, where those that are no
 * neighbours are two hops apart.  Threads start on each socket in turn, or on the next
 * one when a socket is full.
 */
#ifndef CACHEPEEK_SIM_NUMA_H
#define CACHEPEEK_SIM_NUMA_H

#include <stdint.h>

#define NUMA_SOCKETS 64

/* The sockets of a machine; 0 or 1: there is one. */
struct sockets {
	uint32_t sockets;
	uint8_t ring, close;
};

/* Where pages are: a hash table, at most half full. */
struct numa {
	uint64_t *slots; /* 0: free; else number + 1, and in the low byte the socket */
	uint64_t room, used;
	int lost; /* there was no memory: what is counted from then on is wrong */
};

/* The socket whose memory has the page; if none has, it is placed on this one. */
uint32_t numa_home(struct numa *n, uint64_t page, uint32_t socket);
/* These pages are in no memory any more. */
void numa_forget(struct numa *n, uint64_t page, uint64_t pages);
void numa_free(struct numa *n);

/* The socket of the core that is made as number i, on a machine of so many cores. */
uint32_t numa_socket_of(const struct sockets *s, uint32_t cores, uint32_t i);

/* From one to the other: 0, 1 or 2. */
uint32_t numa_hops(const struct sockets *s, uint32_t from, uint32_t to);

#endif
