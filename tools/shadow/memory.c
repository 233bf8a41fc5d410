/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A fork's memory is its own, but for mappings that are shared: small ones are made
 * private, with what is in them; others must not be written to.
 */
#include "tools/shadow/parts.h"

#include <fcntl.h>
#include <sys/mman.h>

#define SMALL (1ul << 20)
#define RANGES 1024

/* Executable mappings; firm: code that stays as long as its mapping does, of files, and
 * not writable. */
static struct {
	struct {
		Addr from, to;
		Bool is_firm;
	} range[RANGES];
	UInt n;
} code;

struct mapping {
	Addr from, to;
	Bool reads, writes, executes, shared, has_file, is_device;
	ULong hash;
};

const NSegment *memory_code(Addr a)
{
	static NSegment found = {.hasR = True, .hasX = True};

	for (UInt i = 0; i < code.n; i++) {
		if (a < code.range[i].from || a >= code.range[i].to)
			continue;
		found.kind = code.range[i].is_firm ? SkFileC : SkAnonC;
		found.start = code.range[i].from;
		found.end = code.range[i].to - 1;
		return &found;
	}
	return NULL;
}

Bool memory_may_change(Addr a)
{
	const NSegment *found = memory_code(a);

	return !found || found->kind != SkFileC;
}

/* ---- what the kernel says ---- */

static Addr hex(const HChar **at)
{
	Addr n = 0;

	for (;; (*at)++) {
		HChar c = **at;

		if (c >= '0' && c <= '9')
			n = n * 16 + (Addr)(c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n * 16 + (Addr)(c - 'a' + 10);
		else
			return n;
	}
}

/* "from-to perms offset device inode   path" */
static void read_mapping(const HChar *line, const HChar *end, struct mapping *m)
{
	const HChar *at = line;

	VG_(memset)(m, 0, sizeof(*m));
	m->from = hex(&at);
	at++;
	m->to = hex(&at);
	at++;
	m->reads = at[0] == 'r';
	m->writes = at[1] == 'w';
	m->executes = at[2] == 'x';
	m->shared = at[3] == 's';
	for (const HChar *c = line; c < end; c++)
		m->hash = (m->hash ^ (UChar)*c) * 0x100000001b3ull;
	for (at += 4; at < end && *at != '/' && *at != '['; at++)
		;
	m->has_file = at < end && (*at == '/' || VG_(strncmp)(at, "[vdso]", 6) == 0);
	m->is_device = end - at > 5 && VG_(strncmp)(at, "/dev/", 5) == 0 &&
		       VG_(strncmp)(at, "/dev/zero", 9) != 0 &&
		       VG_(strncmp)(at, "/dev/shm/", 9) != 0;
}

/* ---- what is done ---- */

static Bool copy_privately(const struct mapping *m)
{
	SizeT size = m->to - m->from;
	void *copy = shadow_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	if (!copy)
		return False;
	VG_(memcpy)(copy, (const void *)m->from, size);
	return cp_syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		       m->from) == (long)m->from;
}

static Bool is_ours(const struct mapping *m)
{
	Addr shared = (Addr)shadow_plan.shared;

	return translate_owns(m->from) || (shared >= m->from && shared < m->to);
}

static ULong treat(const struct mapping *m)
{
	if (m->shared && m->writes && !is_ours(m)) {
		if (m->is_device || !m->reads || m->to - m->from > SMALL ||
			!copy_privately(m))
			cp_syscall(SYS_mprotect, m->from, m->to - m->from, PROT_READ);
		return 0;
	}
	if (!m->executes || is_ours(m))
		return 0;
	if (m->reads && code.n < RANGES) {
		code.range[code.n].from = m->from;
		code.range[code.n].to = m->to;
		code.range[code.n++].is_firm = m->has_file && !m->writes;
	}
	return m->hash;
}

/* Lines are read whole, with what the kernel has by then: mappings that are treated stay
 * where they are. */
ULong memory_separate(void)
{
	static HChar text[1 << 16];
	long fd = cp_syscall(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC), n;
	SizeT have = 0;
	ULong layout = 0;
	struct mapping m;

	if (fd < 0)
		shadow_finish(CP_SHADOW_BROKEN, 3, 0);
	while ((n = cp_syscall(SYS_read, fd, text + have, sizeof(text) - have)) > 0) {
		HChar *line = text, *end = text + have + n;

		for (HChar *c = line; c < end; c++) {
			if (*c != '\n')
				continue;
			read_mapping(line, c, &m);
			layout = layout * 31 + treat(&m);
			line = c + 1;
		}
		have = (SizeT)(end - line);
		VG_(memcpy)(text, line, have);
	}
	cp_syscall(SYS_close, fd);
	return layout;
}
