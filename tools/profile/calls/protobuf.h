/* SPDX-License-Identifier: MIT
 *
 * Messages of protocol buffers, in memory: a field is a tag and either a number of 7 bits
 * a byte, or a length and so many bytes.
 */
#ifndef CACHEPEEK_TOOLS_PROTOBUF_H
#define CACHEPEEK_TOOLS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cp_message {
	struct cp_arena *arena;
	unsigned char *bytes;
	size_t size, room;
};

void cp_message_number(struct cp_message *message, unsigned field, uint64_t value);
void cp_message_bytes(
	struct cp_message *message, unsigned field, const void *bytes, size_t size);

/* A message inside of a message; the inner one can be filled again. */
void cp_message_add(struct cp_message *message, unsigned field, struct cp_message *inner);

/* A number of a field that has several without a tag of their own: into a message of
 * their own, which cp_message_add() adds. */
void cp_message_packed(struct cp_message *message, uint64_t value);

#endif
