/* SPDX-License-Identifier: MIT
 *
 * Goes along rings of nodes in memory that is there no more when the next ring is begun:
 * a file that is cut, what is unmapped, what may not be read.  What looks at the node
 * before must not.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define NODES 2048l /* more than L1D has lines; few enough that each is looked at */

struct node {
	struct node *next;
	char rest[56];
};

#define SIZE (NODES * sizeof(struct node))

static struct node *ring_in(int file)
{
	struct node *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);

	for (long i = 0; i < NODES; i++)
		ring[i].next = &ring[(i * 1025 + 13) % NODES];
	return ring;
}

__attribute__((noipa)) static const struct node *walk(const struct node *at)
{
	for (long i = 0; i < NODES; i++)
		at = at->next;
	return at;
}

int main(void)
{
	int file = memfd_create("ring", 0);
	struct node *ring;
	long sum = 0;

	if (ftruncate(file, SIZE) < 0)
		return 1;
	ring = ring_in(file);
	sum += walk(ring) != NULL;
	if (ftruncate(file, 0) < 0)
		return 1;
	ring = ring_in(-1);
	sum += walk(ring) != NULL;
	munmap(ring, SIZE);
	ring = ring_in(-1);
	sum += walk(ring) != NULL;
	mprotect(ring, SIZE, PROT_NONE);
	sum += walk(ring_in(-1)) != NULL;
	printf("%ld rings\n", sum);
	return 3;
}
