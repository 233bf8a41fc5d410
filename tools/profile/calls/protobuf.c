/* SPDX-License-Identifier: MIT */
#include "tools/profile/calls/protobuf.h"

#include <string.h>

enum { NUMBER = 0, BYTES = 2 }; /* types of a field */

static unsigned char *room_for(struct cp_message *message, size_t size)
{
	unsigned char *bytes = message->bytes;

	if (message->room - message->size < size) {
		message->room = 2 * (message->size + size);
		message->bytes = cp_arena_alloc(message->arena, message->room);
		if (message->size)
			memcpy(message->bytes, bytes, message->size);
	}
	return message->bytes + message->size;
}

void cp_message_packed(struct cp_message *message, uint64_t value)
{
	unsigned char *at = room_for(message, 10);

	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	message->size = (size_t)(at - message->bytes);
}

void cp_message_number(struct cp_message *message, unsigned field, uint64_t value)
{
	cp_message_packed(message, field << 3 | NUMBER);
	cp_message_packed(message, value);
}

void cp_message_bytes(
	struct cp_message *message, unsigned field, const void *bytes, size_t size)
{
	cp_message_packed(message, field << 3 | BYTES);
	cp_message_packed(message, size);
	if (size)
		memcpy(room_for(message, size), bytes, size);
	message->size += size;
}

void cp_message_add(struct cp_message *message, unsigned field, struct cp_message *inner)
{
	cp_message_bytes(message, field, inner->bytes, inner->size);
	inner->size = 0;
}
