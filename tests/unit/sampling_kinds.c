/* SPDX-License-Identifier: MIT
 *
 * Which of the processor's samples are taken: on machines that are described in a
 * tree of our own, with a kernel that refuses what it is told to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake[64] = "/tmp/sampling_kinds_XXXXXX";
#define CP_SYSFS_DEVICES fake

#include "base/counters/encode_sysfs.c"
#include "base/engine/sysfs.c"
#include "preload/sampling/kinds.c"
#include "tests/tap/tap.h"
#include "tests/unit/sysfs_tree.h"

/* ---- a kernel ---- */

static int refusal;      /* of the next opens; 0: none */
static unsigned allowed; /* before it refuses */
static struct perf_event_attr opened[8];
static int leaders[8];
static unsigned nopened;

int cp_kernel_open(const struct perf_event_attr *attr, pid_t tid, int group)
{
	(void)tid;
	if (refusal && nopened >= allowed)
		return -refusal;
	opened[nopened % 8] = *attr;
	leaders[nopened++ % 8] = group;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static struct cp_sampling_event find(const char *measurement)
{
	struct cp_sampling_event event;

	nopened = 0;
	memset(&event, 0xff, sizeof(event));
	cp_sampling_find_memory(&event, measurement);
	return event;
}

/* ---- machines ---- */

static void new_machine(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s/*", fake);
	if (system(command) != 0)
		bail("%s", command);
	refusal = 0;
	allowed = 0;
}

static void add_intel(const char *pmu, bool aux)
{
	tree_core(fake, pmu, "4", "0-3");
	if (aux)
		tree_file(fake, pmu, "events/mem-loads-aux", "event=0x03,umask=0x82");
}

static void test_none(void)
{
	struct cp_sampling_event event;

	new_machine();
	tree_file(fake, "software", "type", "1");
	event = find("dcache");
	is_string(event.name, "", "no PMU: nothing is sampled");
	ok(strstr(event.why.text, "no PMU that samples memory") != NULL, "why: %s",
		event.why.text);
	is_u64(event.attr.size, 0, "nothing to open");
	event = find("icache");
	is_string(event.name, "", "nor ever misses of code");
}

static void test_intel(void)
{
	struct cp_sampling_event event;

	new_machine();
	add_intel("cpu", false);
	event = find("dcache");
	is_string(event.name, "sysfs:cpu/event=0xcd,umask=0x1,ldlat=30/", "Skylake");
	is_string(event.vendor, "intel", "Skylake: the vendor");
	is_u64(event.attr.config, 0x1cd, "Skylake: the event");
	is_u64(event.attr.config1, 30, "Skylake: of 30 cycles and more");
	is_u64(event.attr.precise_ip, 2, "Skylake: the instruction itself");
	is_u64(event.attr.exclude_kernel, 1, "Skylake: user mode");
	is_u64(event.attr.sample_period, 2003, "Skylake: the period");
	is_u64(event.first.size, 0, "Skylake: nothing has to lead it");
	is_u64(event.count.config, 0x48d1, "Skylake: scaled to loads that missed");
	is_int(event.unit, CP_UNIT_MISSES, "Skylake: misses");
	is_string(event.why.text, "", "Skylake: nothing to excuse");
	event = find("dtlb");
	is_u64(event.count.config, 0x11d0, "Skylake, dtlb: scaled to page walks");

	new_machine();
	add_intel("cpu", true);
	event = find("dcache");
	is_u64(event.first.config, 0x8203, "Sapphire Rapids: the auxiliary event");
	is_u64(nopened, 2, "Sapphire Rapids: both are tried");
	is_u64(opened[0].config, 0x8203, "Sapphire Rapids: it first");
	ok(leaders[0] == -1 && leaders[1] >= 0, "Sapphire Rapids: it leads the group");

	new_machine();
	add_intel("cpu_core", true);
	tree_core(fake, "cpu_atom", "10", "4-7");
	event = find("dcache");
	is_string(event.name, "sysfs:cpu_core/event=0xcd,umask=0x1,ldlat=30/",
		"a hybrid: its P-cores");
}

static void test_amd(void)
{
	struct cp_sampling_event event;

	new_machine();
	tree_file(fake, "cpu", "type", "4");
	tree_file(fake, "cpu", "format/event", "config:0-7,32-35");
	tree_file(fake, "ibs_op", "type", "9");
	tree_file(fake, "ibs_op", "format/cnt_ctl", "config:19");
	event = find("dcache");
	is_string(event.name, "sysfs:ibs_op/cnt_ctl=1/", "AMD: IBS, not the core's PMU");
	is_u64(event.attr.type, 9, "AMD: its type");
	is_u64(event.attr.config, 1 << 19, "AMD: micro-operations are counted");
	is_u64(event.attr.exclude_kernel, 0, "AMD: it cannot leave out the kernel");
	is_int(event.unit, CP_UNIT_OPERATIONS, "AMD: operations");
	is_u64(event.attr.sample_period % 16, 0, "AMD: the lowest bits are 0");
	is_u64(event.count.size, 0, "AMD: scaled to its own count");
	tree_file(fake, "ibs_op", "format/swfilt", "config2:0");
	event = find("dcache");
	is_u64(event.attr.config2, 1, "AMD: newer kernels filter");
	is_u64(event.attr.exclude_kernel, 1, "AMD: and leave out the kernel");
}

static void test_arm(void)
{
	struct cp_sampling_event event;

	new_machine();
	tree_file(fake, "arm_spe_0", "type", "11");
	tree_file(fake, "arm_spe_0", "format/load_filter", "config:33");
	tree_file(fake, "arm_spe_0", "format/store_filter", "config:34");
	event = find("dcache");
	is_string(event.name, "", "Arm SPE: not sampled");
	ok(strstr(event.why.text, "arm_spe_0") && strstr(event.why.text, "not read yet"),
		"Arm SPE: why: %s", event.why.text);
	is_u64(nopened, 0, "Arm SPE: nothing is opened");
}

/* ERRORS of perf_event_open(2), on the first open and on the second. */
static void test_refused(void)
{
	static const int errors[] = {
		EACCES, EBUSY, EINVAL, EMFILE, ENODEV, ENOENT, ENOSYS, EOPNOTSUPP, EPERM};
	unsigned before = open_descriptors();

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		for (unsigned at = 0; at < 2; at++) {
			struct cp_sampling_event event;

			new_machine();
			add_intel("cpu", true);
			refusal = errors[i];
			allowed = at;
			event = find("dcache");
			/* Without the auxiliary event the kernel would say ENODATA. */
			ok(!event.name[0] && strlen(event.why.text) > 20 &&
					!strchr(event.why.text, '\n'),
				"errno %d on open %u: %s", errors[i], at + 1,
				event.why.text);
			is_u64(event.attr.size, 0, "errno %d: nothing to open",
				errors[i]);
		}
	is_u64(open_descriptors(), before, "nothing is left open");
}

/* A format that the file's settings do not fit. */
static void test_other_format(void)
{
	struct cp_sampling_event event;

	new_machine();
	tree_file(fake, "cpu", "type", "4");
	tree_file(fake, "cpu", "format/event", "config:0-7");
	tree_file(fake, "cpu", "events/mem-loads", "event=0xcd");
	event = find("dcache");
	is_string(event.name, "", "a PMU without the settings");
	ok(strstr(event.why.text, "no such setting") != NULL, "why: %s", event.why.text);
}

int main(void)
{
	if (!mkdtemp(fake))
		bail("no directory");
	plan_lazy();
	test_none();
	test_intel();
	test_amd();
	test_arm();
	test_refused();
	test_other_format();
	new_machine();
	rmdir(fake);
	return 0;
}
