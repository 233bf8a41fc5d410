/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes the table of encodings that shape.h describes, out of those of a decoder (Zydis):
 * whatever x86-64 executes in user mode, computes with general, vector and mask registers
 * and has at most one operand in memory.
 *
 *	make-native-table > table.c
 */
#include "read_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHAPES 4096
#define MOST_ENCODINGS 65536

/* The table that is written at the end. */
static struct {
	ZydisDecoder decoder;
	struct native_shape shapes[MOST_SHAPES];
	struct native_encoding encodings[MOST_ENCODINGS];
	unsigned nshapes, nencodings;
} table;

/* One encoding, but for its ModRM.reg. */
struct cell {
	enum native_form form;
	unsigned map, pp, w, length, b, is_register, opcode;
};

/* --- Its bytes --- */

#define LONGEST 15

struct bytes {
	uint8_t at[LONGEST];
	unsigned n;
};

static void put_byte(struct bytes *to, unsigned byte)
{
	to->at[to->n++] = (uint8_t)byte;
}

static void put_prefix(
	struct bytes *to, const struct cell *c, unsigned vvvv, unsigned mask)
{
	static const uint8_t mandatory[] = {0, 0x66, 0xf3, 0xf2};

	if (c->form == FORM_EVEX) {
		put_byte(to, 0x62);
		put_byte(to, 0xf0 | c->map);
		put_byte(to, c->w << 7 | (~vvvv & 15) << 3 | 4 | c->pp);
		put_byte(to, c->length << 5 | c->b << 4 | 8 | mask);
		return;
	}
	if (c->form == FORM_VEX) {
		put_byte(to, 0xc4);
		put_byte(to, 0xe0 | c->map);
		put_byte(to, c->w << 7 | (~vvvv & 15) << 3 | c->length << 2 | c->pp);
		return;
	}
	if (c->pp)
		put_byte(to, mandatory[c->pp]);
	if (c->w)
		put_byte(to, 0x48);
	put_byte(to, 0x0f);
	if (c->map > 1)
		put_byte(to, c->map == 2 ? 0x38 : 0x3a);
}

/* The operand in memory is at 1(%rdi,%xmm2), whichever the index is then. */
static struct bytes bytes_of(
	const struct cell *c, unsigned reg, unsigned vvvv, unsigned mask)
{
	struct bytes to = {.n = 0};

	put_prefix(&to, c, vvvv, mask);
	put_byte(&to, c->opcode);
	if (c->is_register) {
		put_byte(&to, 0xc0 | reg << 3 | 3);
	} else {
		put_byte(&to, 0x44 | reg << 3);
		put_byte(&to, 0x17);
		put_byte(&to, 1);
	}
	memset(to.at + to.n, 1, LONGEST - to.n);
	return to;
}

/* --- What it is --- */

/* Some take no register in VEX.vvvv, some need a mask, and some have none. */
static int find_shape(const struct cell *c, unsigned reg, struct native_shape *shape)
{
	static const struct {
		unsigned vvvv, mask;
	} tries[] = {{5, 1}, {0, 1}, {5, 0}, {0, 0}};

	for (unsigned i = 0; i < 4; i++) {
		struct bytes bytes = bytes_of(c, reg, tries[i].vvvv, tries[i].mask);
		struct decoded d;

		if (c->form != FORM_EVEX && tries[i].mask)
			continue;
		if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&table.decoder, bytes.at, LONGEST,
			    &d.instruction, d.operands)))
			return read_shape(&d, c->form, shape);
	}
	return 0;
}

/* --- The table --- */

static uint16_t number_of(const struct native_shape *shape)
{
	unsigned i = 0;

	while (i < table.nshapes && memcmp(&table.shapes[i], shape, sizeof(*shape)) != 0)
		i++;
	if (i == MOST_SHAPES)
		exit(3);
	if (i == table.nshapes)
		table.shapes[table.nshapes++] = *shape;
	return (uint16_t)i;
}

/* Encodings of a cell with the same shape share one entry.  A register operand stands for
 * any register, including the index register used while probing gathers. */
static void add_encoding(
	const struct cell *c, unsigned reg, const struct native_shape *shape)
{
	uint32_t key = NATIVE_KEY(
		c->form, c->map, c->pp, c->w, c->length, c->b, c->is_register, c->opcode);
	uint8_t regs = shape->reg == FIELD_NONE ? (uint8_t)(1u << reg) : 0xff;
	uint16_t number = number_of(shape);
	unsigned i = table.nencodings;

	for (; i > 0 && table.encodings[i - 1].key == key; i--)
		if (table.encodings[i - 1].shape == number) {
			table.encodings[i - 1].regs |= regs;
			return;
		}
	if (table.nencodings == MOST_ENCODINGS)
		exit(3);
	table.encodings[table.nencodings++] = (struct native_encoding){key, number, regs};
}

static void add_cell(const struct cell *c)
{
	struct native_shape shape;

	for (unsigned reg = 0; reg < 8; reg++)
		if (find_shape(c, reg, &shape))
			add_encoding(c, reg, &shape);
}

/* These bytes lead to other maps. */
static int is_escape(const struct cell *c)
{
	return c->form == FORM_LEGACY && c->map == 1 &&
	       (c->opcode == 0x38 || c->opcode == 0x3a);
}

/* The fields that a form has none of are 0. */
static int is_cell(const struct cell *c)
{
	static const unsigned maps[] = {
		[FORM_LEGACY] = 0x0e, [FORM_VEX] = 0x0e, [FORM_EVEX] = 0x6e};

	return maps[c->form] >> c->map & 1 && (c->form == FORM_EVEX || !c->b) &&
	       (c->form != FORM_VEX || c->length < 2) &&
	       (c->form != FORM_LEGACY || !c->length) && !is_escape(c);
}

/* In the order of the keys. */
static void add_all(void)
{
	uint32_t end = NATIVE_KEY(FORM_EVEX + 1, 0, 0, 0, 0, 0, 0, 0);

	for (uint32_t key = 0; key < end; key++) {
		struct cell c = {
			.form = key / NATIVE_KEY(1, 0, 0, 0, 0, 0, 0, 0),
			.map = key / NATIVE_KEY(0, 1, 0, 0, 0, 0, 0, 0) % NATIVE_MAPS,
			.pp = key >> 13 & 3,
			.w = key >> 12 & 1,
			.length = key >> 10 & 3,
			.b = key >> 9 & 1,
			.is_register = key >> 8 & 1,
			.opcode = key & 255,
		};

		if (is_cell(&c))
			add_cell(&c);
	}
}

/* --- Writing --- */

static void write_shape(const struct native_shape *shape)
{
	uint8_t bytes[sizeof(*shape)];

	memcpy(bytes, shape, sizeof(bytes));
	printf("\t{");
	for (unsigned i = 0; i < sizeof(bytes); i++)
		printf("%u, ", bytes[i]);
	printf("},\n");
}

int main(void)
{
	ZydisDecoderInit(
		&table.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	add_all();
	printf("#include \"native/shape.h\"\n"
	       "\n"
	       "const struct native_shape native_shapes[] = {\n");
	for (unsigned i = 0; i < table.nshapes; i++)
		write_shape(&table.shapes[i]);
	printf("};\nconst struct native_encoding native_encodings[] = {\n");
	for (unsigned i = 0; i < table.nencodings; i++)
		printf("\t{%u, %u, %u},\n", table.encodings[i].key,
			table.encodings[i].shape, table.encodings[i].regs);
	printf("};\nconst uint32_t native_nencodings = %u;\n", table.nencodings);
	return fflush(stdout) == 0 ? 0 : 1;
}
