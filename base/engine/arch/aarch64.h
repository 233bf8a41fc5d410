/* SPDX-License-Identifier: MIT */
#define CP_ARCH_USER_READ 1

/* The architecture's common events, which have a bit each in PMCEID<n>_EL0;
 * 0x11 is CPU_CYCLES. */
#define CP_ARCH_LISTS(config)                                                            \
	((config) < 0x40 || ((config) >= 0x4000 && (config) < 0x4040))
#define CP_ARCH_LISTED_EVENT 0x11

/* The register's number is part of the instruction, hence the switch.  The
 * cycle counter is number 31, index 32 in the page. */
static inline uint64_t cp_arch_read_counter(uint32_t index)
{
	uint64_t value = 0;

#define CP_EVENT_COUNTER(n)                                                              \
	case n + 1:                                                                      \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value));            \
		break
	switch (index) {
		CP_EVENT_COUNTER(0);
		CP_EVENT_COUNTER(1);
		CP_EVENT_COUNTER(2);
		CP_EVENT_COUNTER(3);
		CP_EVENT_COUNTER(4);
		CP_EVENT_COUNTER(5);
		CP_EVENT_COUNTER(6);
		CP_EVENT_COUNTER(7);
		CP_EVENT_COUNTER(8);
		CP_EVENT_COUNTER(9);
		CP_EVENT_COUNTER(10);
		CP_EVENT_COUNTER(11);
		CP_EVENT_COUNTER(12);
		CP_EVENT_COUNTER(13);
		CP_EVENT_COUNTER(14);
		CP_EVENT_COUNTER(15);
		CP_EVENT_COUNTER(16);
		CP_EVENT_COUNTER(17);
		CP_EVENT_COUNTER(18);
		CP_EVENT_COUNTER(19);
		CP_EVENT_COUNTER(20);
		CP_EVENT_COUNTER(21);
		CP_EVENT_COUNTER(22);
		CP_EVENT_COUNTER(23);
		CP_EVENT_COUNTER(24);
		CP_EVENT_COUNTER(25);
		CP_EVENT_COUNTER(26);
		CP_EVENT_COUNTER(27);
		CP_EVENT_COUNTER(28);
		CP_EVENT_COUNTER(29);
		CP_EVENT_COUNTER(30);
	case 32:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		break;
	default:
		break;
	}
#undef CP_EVENT_COUNTER
	return value;
}

static inline uint64_t cp_arch_timestamp(void)
{
	uint64_t value;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
