/* SPDX-License-Identifier: MIT
 *
 * Some PMUs take any raw code, run, and count nothing: a 0 from them means
 * nothing.  Is there a sign that an event which opened is really counted?
 */
#ifndef CACHEPEEK_BASE_ENGINE_PROOF_H
#define CACHEPEEK_BASE_ENGINE_PROOF_H

#include "base/engine/engine.h"

/* Does the event count while memory is read and written?  fd: open, disabled,
 * no member of a group; disabled again afterwards. */
bool cp_event_moves(int fd);

/* The same of fd; *why is set unless the answer is CP_PROOF_COUNTS. */
enum cp_proof cp_prove(int fd, const struct perf_event_attr *attr, struct cp_why *why);

/* Do breakpoints of this thread count?  Some virtual machines open them, and never stop
 * at one.  True, too, where none can be opened: its own opening says why. */
bool cp_breakpoints_count(void);

/* The why of CP_PROOF_NONE: why a 0 is not reported as one. */
void cp_explain_unproven(const struct perf_event_attr *attr, struct cp_why *why);

#endif
