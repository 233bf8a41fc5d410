/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read_shape.h"

#include <string.h>

/* While the operands are looked at. */
struct reading {
	const ZydisDecodedInstruction *instruction;
	struct native_shape *shape;
	/* The lanes of the first operand that is a vector, and of the one in
	 * memory. */
	unsigned vector_lanes, memory_lanes;
};

/* --- Features --- */

/* The decoder names a set of instructions by a feature and what it is applied to. */
static const struct {
	const char *set;
	enum native_feature feature;
} sets[] = {
	{"AVX512F", FEATURE_AVX512F},
	{"AVX512BW", FEATURE_AVX512BW},
	{"AVX512DQ", FEATURE_AVX512DQ},
	{"AVX512CD", FEATURE_AVX512CD},
	{"AVX512ER", FEATURE_AVX512ER},
	{"AVX512_IFMA", FEATURE_AVX512IFMA},
	{"AVX512_VBMI", FEATURE_AVX512VBMI},
	{"AVX512_VBMI2", FEATURE_AVX512VBMI2},
	{"AVX512_VNNI", FEATURE_AVX512VNNI},
	{"AVX512_BITALG", FEATURE_AVX512BITALG},
	{"AVX512_VPOPCNTDQ", FEATURE_AVX512VPOPCNTDQ},
	{"AVX512_VP2INTERSECT", FEATURE_AVX512VP2INTERSECT},
	{"AVX512_FP16", FEATURE_AVX512FP16},
	{"AVX512_BF16", FEATURE_AVX512BF16},
	{"AVX512_VAES", FEATURE_VAES},
	{"AVX512_VPCLMULQDQ", FEATURE_VPCLMULQDQ},
	{"AVX512_GFNI", FEATURE_GFNI},
	{"AVX", FEATURE_AVX},
	{"AVX2", FEATURE_AVX2},
	{"AVXAES", FEATURE_AES},
	{"AVX_GFNI", FEATURE_GFNI},
	{"AVX_VNNI", FEATURE_AVX_VNNI},
	{"AES", FEATURE_AES},
	{"BMI1", FEATURE_BMI1},
	{"BMI2", FEATURE_BMI2},
	{"CLWB", FEATURE_CLWB},
	{"F16C", FEATURE_F16C},
	{"FMA", FEATURE_FMA},
	{"GFNI", FEATURE_GFNI},
	{"MOVDIR", FEATURE_MOVDIRI},
	{"PCLMULQDQ", FEATURE_PCLMULQDQ},
	{"RDPID", FEATURE_RDPID},
	{"RDSEED", FEATURE_RDSEED},
	{"SHA", FEATURE_SHA},
	{"SSE", FEATURE_SSE},
	{"SSEMXCSR", FEATURE_SSE},
	{"SSE2", FEATURE_SSE2},
	{"SSE3", FEATURE_SSE3},
	{"SSSE3", FEATURE_SSSE3},
	{"SSE4", FEATURE_SSE4},
	{"SSE42", FEATURE_SSE42},
	{"SSE4A", FEATURE_SSE4A},
	{"VAES", FEATURE_VAES},
	{"VPCLMULQDQ", FEATURE_VPCLMULQDQ},
};

/* "AVX512BW_128": vectors of 128 bits, which are a feature too; "..._128N": one lane. */
static int read_feature(struct reading *r)
{
	const char *name = ZydisISASetGetString(r->instruction->meta.isa_set), *end;
	static const char *const suffixes[] = {
		"_128", "_256", "_128N", "_512", "_SCALAR", "_KOP", ""};

	for (unsigned s = 0; s < sizeof(suffixes) / sizeof(*suffixes); s++) {
		end = name + strlen(name) - strlen(suffixes[s]);
		if (end < name || strcmp(end, suffixes[s]) != 0)
			continue;
		for (unsigned i = 0; i < sizeof(sets) / sizeof(*sets); i++)
			if (strlen(sets[i].set) == (size_t)(end - name) &&
				strncmp(sets[i].set, name, (size_t)(end - name)) == 0) {
				r->shape->feature = (uint8_t)sets[i].feature;
				r->shape->needs_vl = s < 2;
				return 1;
			}
	}
	return 0;
}

/* --- Registers --- */

static int field_of(ZydisRegister number)
{
	switch (ZydisRegisterGetClass(number)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return FIELD_VECTOR;
	case ZYDIS_REGCLASS_MASK:
		return FIELD_MASK;
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return FIELD_GENERAL;
	default:
		return -1;
	}
}

static int is_written(const ZydisDecodedOperand *o)
{
	return (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

static int is_read(const ZydisDecodedOperand *o)
{
	return (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}

static unsigned implicit_of(ZydisRegister number)
{
	switch (number) {
	case ZYDIS_REGISTER_EAX:
	case ZYDIS_REGISTER_RAX:
		return IMPLICIT_RAX;
	case ZYDIS_REGISTER_ECX:
	case ZYDIS_REGISTER_RCX:
		return IMPLICIT_RCX;
	case ZYDIS_REGISTER_EDX:
	case ZYDIS_REGISTER_RDX:
		return IMPLICIT_RDX;
	case ZYDIS_REGISTER_XMM0:
		return IMPLICIT_XMM0;
	default:
		return 0;
	}
}

/* A register that no field names.  Flags are read off the whole instruction; the rounding
 * mode is always the program's. */
static int read_implicit(struct reading *r, const ZydisDecodedOperand *o)
{
	unsigned which = implicit_of(o->reg.value);

	if (o->reg.value == ZYDIS_REGISTER_MXCSR ||
		ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_FLAGS)
		return 1;
	if (is_read(o) || is_written(o))
		r->shape->implicit_reads |= (uint8_t)which;
	if (is_written(o))
		r->shape->implicit_writes |= (uint8_t)which;
	return which != 0;
}

static int read_field(struct reading *r, const ZydisDecodedOperand *o)
{
	struct native_shape *s = r->shape;
	int field = field_of(o->reg.value);
	unsigned written = is_written(o) ? ~0u : 0;

	if (field < 0)
		return 0;
	if (field == FIELD_VECTOR && !r->vector_lanes)
		r->vector_lanes = o->element_count;
	s->wide |= ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_ZMM;
	switch (o->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG:
		s->reg = (uint8_t)field;
		s->writes |= written & WRITES_REG;
		return 1;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM:
		s->rm = (uint8_t)field;
		s->writes |= written & WRITES_RM;
		return 1;
	case ZYDIS_OPERAND_ENCODING_NDSNDD:
		s->vvvv = (uint8_t)field;
		s->writes |= written & WRITES_VVVV;
		return field != FIELD_GENERAL;
	case ZYDIS_OPERAND_ENCODING_MASK:
		s->writes |= written & WRITES_MASK;
		return 1;
	default:
		return 0;
	}
}

/* --- Memory --- */

/* v[p]gather and v[p]scatter, with the letters of the index's size and the data's behind.
 */
static int read_gather(struct reading *r, const ZydisDecodedOperand *o)
{
	const char *name = ZydisMnemonicGetString(r->instruction->mnemonic), *at;
	struct native_shape *s = r->shape;
	unsigned larger;

	if ((at = strstr(name, "gather")))
		at += strlen("gather");
	else if ((at = strstr(name, "scatter")))
		at += strlen("scatter");
	if (!at || *at == 'p') /* prefetches */
		return 0;
	s->index = *at == 'd' ? 4 : 8;
	s->lane = at[1] == 'd' || strcmp(at + 1, "ps") == 0 ? 4 : 8;
	larger = s->index > s->lane ? s->index : s->lane;
	s->lanes = (uint8_t)(r->instruction->avx.vector_length / 8 / larger);
	s->index_wide = ZydisRegisterGetClass(o->mem.index) == ZYDIS_REGCLASS_ZMM;
	s->wide |= s->index_wide;
	return 1;
}

/* Operands of SSE have to be, but for those of moves and comparisons of strings that are
 * made for any. */
static int is_aligned(const ZydisDecodedInstruction *i)
{
	const char *name = ZydisMnemonicGetString(i->mnemonic);

	switch (i->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_SSE1:
		return 1;
	case ZYDIS_EXCEPTION_CLASS_SSE2:
	case ZYDIS_EXCEPTION_CLASS_SSE4:
		return !strstr(name, "movu") && !strstr(name, "movdqu") &&
		       !strstr(name, "lddqu") && !strstr(name, "pcmpestr") &&
		       !strstr(name, "pcmpistr");
	default:
		return 0;
	}
}

static int read_memory(struct reading *r, const ZydisDecodedOperand *o)
{
	struct native_shape *s = r->shape;

	if (s->loads || s->stores)
		return 0;
	s->loads = (uint8_t)is_read(o);
	s->stores = (uint8_t)is_written(o);
	s->size = (uint8_t)(o->size / 8);
	s->disp8 = (uint8_t)o->mem.disp.value;
	s->aligned = s->size == 16 && is_aligned(r->instruction);
	r->memory_lanes = o->element_count;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return read_gather(r, o);
	return o->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
}

/* --- Masks --- */

static int suppresses_faults(const ZydisDecodedInstruction *i)
{
	switch (i->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return 0;
	default:
		return 1;
	}
}

static enum native_masking masking_of(const ZydisDecodedInstruction *i)
{
	const char *name = ZydisMnemonicGetString(i->mnemonic);

	/* The bits of those masks stand for bytes of the result, which all depend on 8.
	 */
	if (!suppresses_faults(i) || strstr(name, "affine") || strstr(name, "shufbit"))
		return MASKING_NONE;
	if (i->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID ||
		strstr(name, "broadcast"))
		return MASKING_WHOLE;
	if (strstr(name, "compress") || strstr(name, "expand"))
		return MASKING_PACKED;
	return MASKING_LANES;
}

/* Counts the lanes of the result, where one lane of memory stands for all. */
static unsigned broadcast_lanes(const struct reading *r)
{
	static const unsigned lanes[] = {
		[ZYDIS_BROADCAST_MODE_1_TO_2] = 2,
		[ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
		[ZYDIS_BROADCAST_MODE_1_TO_8] = 8,
		[ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
		[ZYDIS_BROADCAST_MODE_1_TO_32] = 32,
		[ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
	};
	unsigned mode = r->instruction->avx.broadcast.mode;

	if (mode < sizeof(lanes) / sizeof(*lanes) && lanes[mode])
		return lanes[mode];
	return r->vector_lanes;
}

/* A mask's bit stands for one lane of the result.  Memory has as many, maybe smaller
 * ones; where the decoder sees more in it, several are one lane's (products of bytes),
 * and where it sees more in a register, those behind are 0. */
static void read_lanes(struct reading *r)
{
	struct native_shape *s = r->shape;
	unsigned lanes = r->memory_lanes;

	if (!s->size || s->index)
		return;
	s->masking = (uint8_t)masking_of(r->instruction);
	if (!s->stores && r->vector_lanes && r->vector_lanes < lanes)
		lanes = r->vector_lanes;
	if (!lanes || s->size % lanes)
		lanes = 1;
	s->lane = (uint8_t)(s->size / lanes);
	if (s->masking == MASKING_WHOLE)
		lanes = broadcast_lanes(r);
	s->lanes = (uint8_t)lanes;
}

/* --- All --- */

static int is_left_out(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
	       !(i->attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
	       i->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
	       (i->cpu_flags && i->cpu_flags->tested);
}

static int read_operand(struct reading *r, const ZydisDecodedOperand *o)
{
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return read_memory(r, o);
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		r->shape->immediate += o->size / 8 ? o->size / 8 : 1;
		return 1;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		o->encoding == ZYDIS_OPERAND_ENCODING_NONE)
		return read_implicit(r, o);
	return read_field(r, o);
}

static int names_general(const struct native_shape *s)
{
	return s->reg == FIELD_GENERAL || s->rm == FIELD_GENERAL;
}

int read_shape(const struct decoded *d, enum native_form form, struct native_shape *shape)
{
	const ZydisDecodedInstruction *i = &d->instruction;
	struct reading r = {.instruction = i, .shape = shape};

	memset(shape, 0, sizeof(*shape));
	if (is_left_out(i) || !read_feature(&r) ||
		(form == FORM_LEGACY && i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY))
		return 0;
	for (unsigned n = 0; n < i->operand_count; n++)
		if (!read_operand(&r, &d->operands[n]))
			return 0;
	if (i->cpu_flags && (i->cpu_flags->modified | i->cpu_flags->set_0 |
				    i->cpu_flags->set_1 | i->cpu_flags->undefined))
		shape->writes |= WRITES_FLAGS;
	read_lanes(&r);
	return !(names_general(shape) &&
		 (shape->implicit_reads & (IMPLICIT_RAX | IMPLICIT_RCX | IMPLICIT_RDX)));
}
