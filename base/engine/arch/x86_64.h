/* SPDX-License-Identifier: MIT */
#define CP_ARCH_LISTS(config) ((void)(config), 0)
#define CP_ARCH_LISTED_EVENT 0
#define CP_ARCH_USER_READ 1

static inline uint64_t cp_arch_read_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t cp_arch_timestamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
