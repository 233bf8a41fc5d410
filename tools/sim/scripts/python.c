/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scripts/python.h"
#include "scripts/python_memory.h"

#include "valgrind/core.h"

/* The one interpreter of a process. */
static struct {
	struct python_symbols symbols;
	Bool used;
	/* The running thread: its number, its state there (0: not found) and whose that
	 * is, and how often it is not looked for. */
	Addr native_id, interpreter;
	Addr state;
	UInt patience;
	/* The line that was found last: its frame, and that of the innermost function
	 * that is in no library, if that is the same or has called the other one itself,
	 * else 0. */
	struct {
		Addr frame, own_frame;
		struct python_at at, own;
	} latest;
} python;

struct python_layout python_layout;

/* ---- versions ---- */

/* PyASCIIObject and PyCompactUnicodeObject lost wstr and wstr_length in 3.12. */
static const struct python_layout of_3_11 = {
	.interpreters = 40,
	.next_interpreter = 0,
	.threads = 16,
	.previous_thread = 0,
	.next_thread = 8,
	.native_id = 160,
	.frame = 56,
	.is_indirect = True,
	.frame_of_that = 8,
	.caller = 48,
	.code = 32,
	.instruction = 56,
	.file = 112,
	.qualified_name = 128,
	.line_table = 136,
	.first_line = 72,
	.bytecode = 184,
	.ascii = 48,
	.compact = 72,
};

static const struct python_layout of_3_12 = {
	.interpreters = 40,
	.next_interpreter = 0,
	.threads = 72,
	.previous_thread = 0,
	.next_thread = 8,
	.native_id = 144,
	.frame = 56,
	.is_indirect = True,
	.frame_of_that = 0,
	.caller = 8,
	.code = 0,
	.instruction = 56,
	.file = 112,
	.qualified_name = 128,
	.line_table = 136,
	.first_line = 68,
	.bytecode = 192,
	.ascii = 40,
	.compact = 56,
};

/* The words of struct _Py_DebugOffsets of 3.13, which _PyRuntime begins with. */
enum {
	OFFSETS_COOKIE,
	OFFSETS_VERSION,
	OFFSETS_FREE_THREADED,
	OFFSETS_INTERPRETERS = 5,
	OFFSETS_NEXT_INTERPRETER = 8,
	OFFSETS_THREADS,
	OFFSETS_PREVIOUS_THREAD = 20,
	OFFSETS_NEXT_THREAD,
	OFFSETS_FRAME = 23,
	OFFSETS_NATIVE_ID = 25,
	OFFSETS_CALLER = 29,
	OFFSETS_CODE,
	OFFSETS_INSTRUCTION,
	OFFSETS_FILE = 35,
	OFFSETS_QUALIFIED_NAME = 37,
	OFFSETS_LINE_TABLE,
	OFFSETS_FIRST_LINE,
	OFFSETS_BYTECODE = 43,
	OFFSETS
};

static Bool is_known(const Addr *word)
{
	return VG_(memcmp)(&word[OFFSETS_COOKIE], "xdebugpy", 8) == 0 &&
	       word[OFFSETS_VERSION] >> 16 == 0x030d && !word[OFFSETS_FREE_THREADED];
}

static Bool read_offsets(Addr runtime, struct python_layout *to)
{
	Addr word[OFFSETS];

	for (UInt i = 0; i < OFFSETS; i++)
		if (!python_word(runtime + i * sizeof(word[0]), &word[i]))
			return False;
	*to = (struct python_layout){
		.interpreters = word[OFFSETS_INTERPRETERS],
		.next_interpreter = word[OFFSETS_NEXT_INTERPRETER],
		.threads = word[OFFSETS_THREADS],
		.previous_thread = word[OFFSETS_PREVIOUS_THREAD],
		.next_thread = word[OFFSETS_NEXT_THREAD],
		.native_id = word[OFFSETS_NATIVE_ID],
		.frame = word[OFFSETS_FRAME],
		.caller = word[OFFSETS_CALLER],
		.code = word[OFFSETS_CODE],
		.instruction = word[OFFSETS_INSTRUCTION],
		.file = word[OFFSETS_FILE],
		.qualified_name = word[OFFSETS_QUALIFIED_NAME],
		.line_table = word[OFFSETS_LINE_TABLE],
		.first_line = word[OFFSETS_FIRST_LINE],
		.bytecode = word[OFFSETS_BYTECODE],
		.ascii = of_3_12.ascii,
		.compact = of_3_12.compact,
	};
	return is_known(word);
}

UInt python_version(const struct python_symbols *symbols)
{
	Addr version;

	return symbols->version && python_word(symbols->version, &version)
		       ? (UInt)version >> 16
		       : 0;
}

static Bool choose_layout(const struct python_symbols *symbols)
{
	switch (python_version(symbols)) {
	case 0x030b:
		python_layout = of_3_11;
		return True;
	case 0x030c:
		python_layout = of_3_12;
		return True;
	case 0x030d:
		return read_offsets(symbols->runtime, &python_layout);
	default:
		return False;
	}
}

Bool python_use(const struct python_symbols *symbols)
{
	if (python.used || !choose_layout(symbols))
		return False;
	python.symbols = *symbols;
	python.used = True;
	return True;
}

void python_unmapped(Addr a, SizeT len)
{
	if (python.used && python.symbols.runtime - a < len)
		python.used = False;
}

/* ---- the thread ---- */

void python_run(void)
{
	python.native_id = (Addr)VG_(gettid)();
	python.state = 0;
	python.patience = 0;
	python.latest.frame = 0;
}

static Bool is_running(Addr state)
{
	Addr native;

	return state && python_word(state + python_layout.native_id, &native) &&
	       native == python.native_id;
}

/* Others change the lists meanwhile: they are not taken to end. */
enum { MOST = 4096 };

static Addr search_threads(Addr interpreter)
{
	Addr state;
	UInt n = 0;

	if (!python_word(interpreter + python_layout.threads, &state))
		return 0;
	for (; state && n < MOST; n++) {
		if (is_running(state))
			return state;
		if (!python_word(state + python_layout.next_thread, &state))
			return 0;
	}
	return 0;
}

static Addr search_interpreters(void)
{
	Addr interpreter, state = 0;
	UInt n = 0;

	if (!python_word(
		    python.symbols.runtime + python_layout.interpreters, &interpreter))
		return 0;
	for (; interpreter && !state && n < MOST; n++) {
		python.interpreter = interpreter;
		state = search_threads(interpreter);
		if (!python_word(
			    interpreter + python_layout.next_interpreter, &interpreter))
			break;
	}
	return state;
}

/* One that is called from C may have a state for each call. */
static Bool is_in_list(Addr state)
{
	Addr before, found;

	if (!python_word(state + python_layout.previous_thread, &before))
		return False;
	return python_word(before ? before + python_layout.next_thread
				  : python.interpreter + python_layout.threads,
		       &found) &&
	       found == state;
}

/* Most threads that are none of Python's stay so. */
static Bool find_state(void)
{
	enum { PATIENCE = 1000 };

	if (python.state && is_in_list(python.state))
		return True;
	if (python.patience) {
		python.patience--;
		return False;
	}
	python.state = search_interpreters();
	python.patience = python.state ? 0 : PATIENCE;
	return python.state != 0;
}

/* ---- its frame ---- */

static Bool find_frame(Addr *frame)
{
	if (!python_word(python.state + python_layout.frame, frame) || !*frame)
		return False;
	if (!python_layout.is_indirect)
		return True;
	return python_word(*frame + python_layout.frame_of_that, frame) && *frame;
}

/* Frames of C code have others in its place. */
static Bool is_code(Addr object)
{
	Addr type;

	return object && python_word(object + PYTHON_TYPE, &type) &&
	       type == python.symbols.code_type;
}

static Bool read_frame(Addr frame, struct python_at *at)
{
	return python_word(frame + python_layout.code, &at->code) && at->code &&
	       python_word(frame + python_layout.instruction, &at->instruction) &&
	       python_word(at->code + python_layout.file, &at->file) &&
	       python_word(at->code + python_layout.line_table, &at->line_table);
}

/* Is the frame where it was? */
static inline Bool is_as_before(Addr frame, const struct python_at *at)
{
	Addr code, instruction, file, line_table;

	return python_word(frame + python_layout.code, &code) && code == at->code &&
	       python_word(frame + python_layout.instruction, &instruction) &&
	       instruction == at->instruction &&
	       python_word(code + python_layout.file, &file) && file == at->file &&
	       python_word(code + python_layout.line_table, &line_table) &&
	       line_table == at->line_table;
}

/* ---- libraries ---- */

/* Code objects that have been looked at, by the low bits of where they are. */
enum { KNOWN = 1 << 12 };
static struct known {
	Addr code, file;
	Bool is_library;
} known_code[KNOWN];

/* NULL: it is none. */
static const struct known *know_code(Addr code)
{
	struct known *known = &known_code[code / 16 % KNOWN];
	Addr file;

	if (!code || !python_word(code + python_layout.file, &file))
		return NULL;
	if (known->code == code && known->file == file)
		return known;
	if (!is_code(code))
		return NULL;
	*known = (struct known){code, file, python_is_library(file)};
	return known;
}

static Bool is_own(Addr frame)
{
	const struct known *known;
	Addr code;

	if (!python_word(frame + python_layout.code, &code))
		return False;
	known = know_code(code);
	return known && !known->is_library;
}

/* From the frame that called that one on; 0: none. */
static Addr find_own(Addr frame)
{
	enum { DEEPEST = 200 };

	for (UInt n = 0; n < DEEPEST; n++) {
		if (!python_word(frame + python_layout.caller, &frame) || !frame)
			return 0;
		if (is_own(frame))
			return frame;
	}
	return 0;
}

/* ---- all of it ---- */

static Bool is_latest(Addr frame)
{
	Addr own = python.latest.own_frame, caller;

	if (frame != python.latest.frame || !own ||
		!is_as_before(frame, &python.latest.at))
		return False;
	return own == frame ||
	       (python_word(frame + python_layout.caller, &caller) && caller == own &&
		       is_as_before(own, &python.latest.own));
}

static Bool look_at_frames(Addr frame)
{
	const struct known *known;
	Addr own = frame, caller = 0;

	python.latest.frame = 0;
	if (!read_frame(frame, &python.latest.at))
		return False;
	known = know_code(python.latest.at.code);
	if (!known)
		return False;
	python.latest.own = python.latest.at;
	if (known->is_library)
		own = find_own(frame);
	if (own && own != frame && !read_frame(own, &python.latest.own))
		return False;
	(void)python_word(frame + python_layout.caller, &caller);
	python.latest.frame = frame;
	python.latest.own_frame = own == frame || own == caller ? own : 0;
	return True;
}

const struct python_at *python_find(const struct python_at **own)
{
	Addr frame;

	if (!python.used || !find_state() || !find_frame(&frame) ||
		(!is_latest(frame) && !look_at_frames(frame)))
		return NULL;
	*own = &python.latest.own;
	return &python.latest.at;
}
