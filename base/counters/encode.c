/* SPDX-License-Identifier: MIT */
#include "base/counters/encode.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/counters/encode_sysfs.h"
#include "base/encoder/pfm.h"
#include "base/env.h"

/* rHEX: a raw code of the core PMU. */
static bool encode_raw(const char *event, struct perf_event_attr *attr)
{
	size_t digits = 0;
	char hex[24];
	uint64_t config;

	if (event[0] == 'r')
		digits = strspn(event + 1, "0123456789abcdefABCDEF");
	if (digits == 0 || digits > 16)
		return false;
	if (event[1 + digits] != ':' && event[1 + digits])
		return false;
	cp_format(hex, sizeof(hex), "0x%.*s", (int)digits, event + 1);
	if (cp_parse_u64(hex, &config) < 0)
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	return cp_encode_modes(event + 1 + digits, attr);
}

bool cp_event_is_raw(const char *event)
{
	struct perf_event_attr attr;

	return encode_raw(event, &attr);
}

static bool breakpoint_access(const char *letters, struct perf_event_attr *attr)
{
	attr->bp_type = 0;
	for (; *letters; letters++) {
		if (*letters == 'x')
			attr->bp_type |= HW_BREAKPOINT_X;
		else if (*letters == 'r')
			attr->bp_type |= HW_BREAKPOINT_R;
		else if (*letters == 'w')
			attr->bp_type |= HW_BREAKPOINT_W;
		else
			return false;
	}
	return attr->bp_type != 0;
}

/* mem:ADDRESS[/LENGTH][:rwx], perf's spelling; without access: rw. */
static bool encode_breakpoint(const char *event, struct perf_event_attr *attr)
{
	const char *at = event + 4, *access = "rw";
	uint64_t address, length = 0;

	if (cp_parse_u64_prefix(at, &at, &address) < 0)
		return false;
	if (*at == '/' && cp_parse_u64_prefix(at + 1, &at, &length) < 0)
		return false;
	if (*at == ':')
		access = at + 1;
	else if (*at)
		return false;
	if (!breakpoint_access(access, attr))
		return false;
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_addr = address;
	attr->bp_len = length                             ? length
		       : attr->bp_type == HW_BREAKPOINT_X ? sizeof(long)
							  : 4;
	return cp_encode_modes("", attr);
}

/* Only PMUs that count a thread; others are opened on a CPU. */
static int encode_sysfs(
	const char *event, struct perf_event_attr *attr, const char **reason)
{
	struct cp_sysfs_pmu pmu;
	unsigned count = cp_sysfs_event_pmus(event, &pmu, 1);
	const char *modes;

	*reason = count ? "it counts all of a socket, not one thread"
			: "this machine has no such PMU in /sys/bus/event_source/devices";
	if (!count || pmu.socket)
		return -EINVAL;
	if (cp_sysfs_encode(event, &pmu, attr, &modes, reason) < 0)
		return -EINVAL;
	*reason = "the modes behind it are u, k or uk";
	return cp_encode_modes(modes, attr) ? 0 : -EINVAL;
}

/* libpfm, loaded at its first use; NULL and a reason where that fails. */
static const struct cp_encoder *load_encoder(const char **reason)
{
	static const struct cp_encoder *loaded;
	static bool tried;
	char path[PATH_MAX];
	void *object;

	*reason = "libpfm4 (encoder.so) is not installed beside the library: `make "
		  "install`";
	if (tried)
		return loaded;
	tried = true;
	if (cp_encoder_path(path, sizeof(path)) < 0)
		return NULL;
	/* In the library dlopen is its own hook's. */
	object = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
	if (object)
		loaded = dlsym(object, "cp_encoder");
	if (loaded)
		loaded->use_environment(cp_env_all());
	return loaded;
}

int cp_encode(const char *event, struct perf_event_attr *attr, const char **reason)
{
	const struct cp_encoder *libpfm;
	int result;

	memset(attr, 0, sizeof(*attr));
	if (cp_starts_with(event, "mem:")) {
		*reason = "breakpoints are written mem:ADDRESS[/LENGTH][:rwx]";
		return encode_breakpoint(event, attr) ? 0 : -EINVAL;
	}
	if (cp_starts_with(event, "sysfs:"))
		return encode_sysfs(event, attr, reason);
	if (encode_raw(event, attr))
		return 0;
	result = cp_encode_software(event, attr, reason);
	if (result != -ENOENT)
		return result;
	libpfm = load_encoder(reason);
	return libpfm ? libpfm->encode(event, attr, reason) : -EINVAL;
}

const char *cp_core_pmu(unsigned index)
{
	const char *reason;
	const struct cp_encoder *libpfm = load_encoder(&reason);

	return libpfm ? libpfm->core_pmu(index) : NULL;
}
