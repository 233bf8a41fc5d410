/* SPDX-License-Identifier: MIT */
#define CP_ARCH_LISTS(config) ((void)(config), 0)
#define CP_ARCH_LISTED_EVENT 0
#define CP_ARCH_USER_READ 0

static inline uint64_t cp_arch_read_counter(uint32_t index)
{
	(void)index;
	return 0;
}

static inline uint64_t cp_arch_timestamp(void)
{
	return 0;
}
