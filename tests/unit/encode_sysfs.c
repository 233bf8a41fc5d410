/* SPDX-License-Identifier: MIT
 *
 * Events of PMUs that sysfs describes, in a tree of our own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char fake[64] = "/tmp/encode_sysfs_XXXXXX";
#define CP_SYSFS_DEVICES fake

#include "base/counters/encode_sysfs.c"
#include "base/engine/sysfs.c"
#include "tests/tap/tap.h"
#include "tests/unit/sysfs_tree.h"

static void encodes(const char *event, const char *pmu, uint32_t type, uint64_t config,
	uint64_t config1, const char *modes)
{
	struct perf_event_attr attr = {0};
	struct cp_sysfs_pmu found;
	const char *reason = "", *rest = "";

	is_u64(cp_sysfs_event_pmus(event, &found, 1), 1, "%s: one PMU", event);
	is_string(found.name, pmu, "%s: %s", event, pmu);
	is_int(cp_sysfs_encode(event, &found, &attr, &rest, &reason), 0, "%s: %s", event,
		reason);
	is_u64(attr.type, type, "%s: its type", event);
	is_u64(attr.config, config, "%s: config", event);
	is_u64(attr.config1, config1, "%s: config1", event);
	is_string(rest, modes, "%s: the modes are left", event);
}

static void fails(const char *event, const char *why)
{
	struct perf_event_attr attr = {0};
	struct cp_sysfs_pmu found;
	const char *reason = "", *rest = "";

	cp_sysfs_event_pmus(event, &found, 1);
	is_int(cp_sysfs_encode(event, &found, &attr, &rest, &reason), -EINVAL,
		"%s is refused", event);
	ok(strstr(reason, why) != NULL, "%s: %s", event, reason);
}

static void test_pmus(void)
{
	struct cp_sysfs_pmu pmus[3];

	is_u64(cp_sysfs_event_pmus("sysfs:uncore_imc_[0-9]*/event=1/", pmus, 3), 4,
		"four PMUs match");
	is_string(pmus[0].name, "uncore_imc_0", "the first by name");
	is_string(
		pmus[2].name, "uncore_imc_10", "and the others as many as are asked for");
	ok(pmus[0].socket, "they count a socket");
	is_u64(cp_sysfs_event_pmus("sysfs:nope/event=1/", pmus, 3), 0, "none matches");
	is_u64(cp_sysfs_core_pmus(pmus, 3), 2, "two kinds of core");
	is_string(pmus[0].name, "cpu_atom", "one kind");
	is_u64(pmus[0].type, 10, "its type");
	ok(!pmus[0].socket, "a thread's");
	is_string(pmus[1].name, "cpu_core", "and the other");
}

int main(void)
{
	plan_lazy();
	if (!mkdtemp(fake))
		bail("no /tmp");
	tree_hybrid(fake);
	tree_uncore(fake);
	test_pmus();
	encodes("sysfs:cpu_atom/config=0x3c/", "cpu_atom", 10, 0x3c, 0, "");
	encodes("sysfs:cpu_core/event=0xd1,umask=0x20/u", "cpu_core", 4, 0x20d1, 0, "u");
	encodes("sysfs:cpu_core/event=0xd1,umask=0x120/k", "cpu_core", 4, 0x1000020d1, 0,
		"k");
	encodes("sysfs:cpu_core/event=0xcd,ldlat=0x1f,edge/", "cpu_core", 4, 0x400cd,
		0x1f, "");
	encodes("sysfs:cpu_core/mem-loads/", "cpu_core", 4, 0x1cd, 3, "");
	encodes("sysfs:uncore_imc_1?/event=4,umask=0x0f/", "uncore_imc_10", 21, 0xf04, 0,
		"");
	fails("sysfs:cpu_core/event=0xd1,nope=1/", "no such setting");
	fails("sysfs:cpu_core/event=0x1d1/", "larger than its field");
	fails("sysfs:cpu_core/event=many/", "no number");
	fails("sysfs:cpu_core/event=1", "are written");
	fails("sysfs:cpu_core/circular/", "no such setting");
	fails("sysfs:cpu_core/../../passwd/", "no such setting");
	tree_remove(fake);
	return 0;
}
