/* SPDX-License-Identifier: MIT */
#include "regions/fold/fold_file.h"

#include <string.h>

#include "regions/record.h"

void *cp_fold_put(
	struct cp_fold_file *file, uint32_t type, uint64_t size, uint64_t *offset)
{
	struct cp_item *item = file->bytes ? (void *)(file->bytes + file->size) : NULL;

	size = (size + 7) & ~(uint64_t)7;
	if (offset)
		*offset = file->size;
	file->size += size;
	if (item)
		*item = (struct cp_item){type, (uint32_t)size};
	return item;
}

void cp_fold_put_copy(struct cp_fold_file *file, const void *from)
{
	const struct cp_item *item = from;
	void *to = cp_fold_put(file, item->type, item->size, NULL);

	if (to)
		memcpy(to, from, item->size);
}

void cp_fold_put_meta(
	struct cp_fold_file *file, const char *key, const void *value, size_t length)
{
	size_t key_length = strlen(key);
	struct cp_meta_item *meta = cp_fold_put(
		file, CP_ITEM_META, sizeof(*meta) + key_length + 1 + length + 1, NULL);

	if (!meta)
		return;
	meta->key_length = (uint32_t)key_length;
	meta->length = (uint32_t)length;
	memcpy(meta->text, key, key_length);
	memcpy(meta->text + key_length + 1, value, length);
}

uint64_t cp_fold_put_string(struct cp_fold_file *file, const char *text, size_t length)
{
	uint64_t offset;
	struct cp_string_item *string =
		cp_fold_put(file, CP_ITEM_STRING, sizeof(*string) + length + 1, &offset);

	if (!string)
		return offset;
	string->length = (uint32_t)length;
	memcpy(string->text, text, length);
	return offset;
}
