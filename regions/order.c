/* SPDX-License-Identifier: MIT */
#include "regions/order.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"

void cp_order_arguments(const struct cp_order *order, char *text,
	const char *argv[CP_ORDER_ARGUMENTS + 1])
{
	const uint64_t numbers[] = {
#define X(name) order->name,
		CP_ORDER_NUMBERS(X)
#undef X
	};
	size_t length = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		length += cp_format(text + length, CP_ORDER_TEXT - length,
			"%llu:", (unsigned long long)numbers[i]);
	argv[0] = "cachepeek-" CP_REPORTER;
	argv[1] = CP_VERSION;
	argv[2] = order->directory;
	argv[3] = order->outputs ? order->outputs : "";
	argv[4] = order->exe;
	argv[5] = text;
	argv[CP_ORDER_ARGUMENTS] = NULL;
}

bool cp_order_read(struct cp_order *order, int argc, char *const argv[])
{
	uint64_t *const numbers[] = {
#define X(name) &order->name,
		CP_ORDER_NUMBERS(X)
#undef X
	};
	const char *at, *end;

	if (argc != CP_ORDER_ARGUMENTS || strcmp(argv[1], CP_VERSION) != 0)
		return false;
	order->directory = argv[2];
	order->outputs = argv[3];
	order->exe = argv[4];
	at = argv[5];
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++, at = end + 1)
		if (cp_parse_u64_prefix(at, &end, numbers[i]) < 0 || *end != ':')
			return false;
	return *at == '\0';
}

void cp_order_parcels(const char *directory, int pid, char path[CP_PARCELS_PATH])
{
	cp_format(path, CP_PARCELS_PATH, "%s/%d.parcels", directory, pid);
}
