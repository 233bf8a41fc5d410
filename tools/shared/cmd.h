/* SPDX-License-Identifier: MIT
 *
 * The commands of `cachepeek`.  Each gets its own name as argv[0] and its
 * arguments after it, and returns the exit status: 0, 1 (failed), 2 (misused).
 */
#ifndef CACHEPEEK_TOOLS_SHARED_CMD_H
#define CACHEPEEK_TOOLS_SHARED_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h> /* optind */

#include "base/text/colour.h"
#include "tools/shared/output.h"

int cp_cmd_run(int argc, char **argv);
int cp_cmd_report(int argc, char **argv);
/* The report of a run that has just ended, of which pid was the root, to the
 * sinks of outputs (NULL: stderr), as the library would have written it. */
void cp_report_run(const char *directory, uint64_t scope, int pid, const char *outputs);

/* Says why the program was not run.  Returns the status of a shell. */
int cp_cannot_run(const char *program, int error);

/* Ends like the program, whose status of wait(2) is this: returns its exit status,
 * or dies by its signal. */
int cp_end_like(int status);

/* The same of a run that has not ended, and in silence: what cannot be written now
 * is said at the end. */
void cp_report_now(const char *directory, int pid, const char *outputs);

int cp_cmd_compare(int argc, char **argv);
int cp_cmd_diff(int argc, char **argv);
int cp_cmd_gate(int argc, char **argv);
int cp_cmd_merge(int argc, char **argv);
int cp_cmd_profile(int argc, char **argv);
int cp_cmd_sharing(int argc, char **argv);
int cp_cmd_explain(int argc, char **argv);
int cp_cmd_annotate(int argc, char **argv);
int cp_cmd_list(int argc, char **argv);
int cp_cmd_doctor(int argc, char **argv);
int cp_cmd_help(int argc, char **argv);
int cp_cmd_version(void);

/* The name of the command whose argv[0] this is: run, if it is none of them. */
const char *cp_cmd_name(const char *word);

/* Says on stderr that word is no WHAT ("option"), with the nearest of known
 * (NULL-terminated) if there is one, else with the command that shows them, such as
 * "list presets".  Returns 2. */
int cp_cmd_misspelt(
	const char *what, const char *word, const char *const *known, const char *where);

/* The command that the word may have been meant for, or NULL. */
const char *cp_cmd_like(const char *word);

/* Prints text in lines of 80 columns: the first goes on in column `at`, the others
 * are indented. */
void cp_cmd_wrap(const char *text, size_t at, size_t indent);

/* How an option is taken: where in the request it is put, or by whom it is taken. */
enum cp_arg_kind {
	CP_ARG_FLAG,     /* a bool, which becomes true */
	CP_ARG_TEXT,     /* a const char *, which points to the value */
	CP_ARG_OPTIONAL, /* the same; "1" without a value */
	CP_ARG_OUTPUT,   /* a struct cp_output_list, to which the value is added */
	CP_ARG_JSON,     /* the same, to which "-.json" is added */
	CP_ARG_LIST, /* a char * from malloc(3), a list with commas, to which it is added
		      */
	CP_ARG_LIST_JSON, /* the same, to which "-.json" is added */
	CP_ARG_TAKE,      /* a function, which is given the value */
	CP_ARG_TAKE_FLAG,
	CP_ARG_TAKE_OPTIONAL, /* which is given it, or NULL */
};

/* An option of a command. */
struct cp_arg {
	const char *name;
	char letter; /* 0: none */
	enum cp_arg_kind kind;
	size_t at;
	/* false: after it has said why not. */
	bool (*take)(void *request, const struct cp_arg *arg, const char *value);
	const char *of; /* for take */
};
#define CP_ARG_AT(kind, request, member)                                                 \
	CP_ARG_##kind, offsetof(request, member), NULL, NULL
#define CP_ARG_BY(kind, take, of) CP_ARG_##kind, 0, take, of

/*
 * The options of a command, up to the row without a name, into its request: optind is
 * that of the first other argument then.  false if there is no such option, its value is
 * missing, it has one too many, or it was not taken: this has been said on stderr.
 * --help and --version end the process, after what they print (tools/shared/help.h);
 * --color is done here, too.  The first argument that is no option ends them; mixed:
 * they may stand behind it, too.
 */
bool cp_cmd_args(int argc, char **argv, const struct cp_arg *args, void *request);
bool cp_cmd_args_mixed(int argc, char **argv, const struct cp_arg *args, void *request);

/* The number that an option's value is, in decimal, into *to.  false after saying on
 * stderr that one from least to most is expected: *to is as it was. */
bool cp_cmd_number(const struct cp_arg *arg, const char *value, uint64_t least,
	uint64_t most, uint64_t *to);

/* --color, or else the environment. */
enum cp_colour cp_cmd_colour(void);

/* getenv(3), for functions that take a look-up of the environment. */
static inline const char *cp_cmd_getenv(const char *name)
{
	return getenv(name);
}

#endif
